//! Views: what they reach, and that an operand is the same under every arrangement.

#![allow(clippy::unwrap_used, reason = "a test may")]

use mage_einsum::view::{Arrangement, Stored, View};
use ndarray::{Array, ArrayD, Axis, Slice};

/// Numbers that tell every element apart.
fn counted(shape: &[usize]) -> ArrayD<f32> {
    let n_elements: usize = shape.iter().product();
    Array::from_iter((0..n_elements).map(|at| at as f32 + 1.0))
        .into_shape_with_order(shape)
        .unwrap()
}

#[test]
fn a_view_reaches_from_its_lowest_to_its_highest_element() {
    let reach = |first, strides: &[i64], extents: &[u64]| {
        View { first, strides: strides.to_vec() }.reach(extents)
    };
    assert_eq!(View::row_major(&[3, 5]), View { first: 0, strides: vec![5, 1] });
    assert_eq!(View::row_major(&[3, 5]).reach(&[3, 5]), Some((0, 14)));
    assert_eq!(reach(46, &[-16, 3], &[3, 3]), Some((14, 52)));
    assert_eq!(reach(7, &[], &[]), Some((7, 7)));
    assert_eq!(reach(2, &[0, 0], &[9, 9]), Some((2, 2)));
    assert_eq!(reach(2, &[i64::MIN, 1], &[1, 2]), Some((2, 3)));
    assert_eq!(reach(u64::MAX, &[7, 7], &[0, 5]), None);
    let far = reach(u64::MAX, &[i64::MIN, i64::MAX], &[u64::MAX, u64::MAX]).unwrap();
    assert!(far.0 < -(1 << 100) && far.1 > 1 << 100);
}

#[test]
fn an_array_is_stored_under_its_own_strides() {
    let array = counted(&[6, 8]);
    let rows = array.slice_axis(Axis(0), Slice::new(0, None, -2));
    let view = rows.slice_axis(Axis(1), Slice::new(0, None, 3));
    let stored = Stored::of(&view, f32::NAN);
    assert_eq!(stored.view, View { first: 32, strides: vec![-16, 3] });
    assert_eq!(stored.data.len(), 39);
    assert_eq!(stored.data.iter().filter(|value| !value.is_nan()).count(), 9);
    assert_eq!(stored.to_array(&[3, 3]), view);

    let row = counted(&[5]);
    let broadcast = row.broadcast(vec![3, 5]).unwrap();
    let stored = Stored::of(&broadcast, f32::NAN);
    assert_eq!((stored.view.strides.clone(), stored.data.len()), (vec![0, 1], 5));
    assert_eq!(stored.to_array(&[3, 5]), broadcast);

    let empty = counted(&[4, 0]);
    assert_eq!(Stored::of(&empty.view(), 0.0).data.len(), 0);
    let scalar = counted(&[]);
    assert_eq!(Stored::of(&scalar.view(), 0.0).data, [1.0]);
}

#[test]
fn an_arrangement_holds_the_operand() {
    for shape in [&[2, 3, 5][..], &[4, 4], &[3, 1], &[7], &[]] {
        let array = counted(shape);
        for (name, arrangement) in Arrangement::NAMES {
            let stored = Stored::arranged(&array.view(), arrangement, f32::NAN);
            let kept = stored.to_array(shape);
            if arrangement == Arrangement::Broadcast && !shape.is_empty() {
                let last = array.index_axis(Axis(0), shape[0] - 1);
                assert!(kept.axis_iter(Axis(0)).all(|row| row == last), "{name} {shape:?}");
            } else {
                assert_eq!(kept, array, "{name} {shape:?}");
            }
            let extents: Vec<u64> = shape.iter().map(|extent| *extent as u64).collect();
            let (lowest, highest) = stored.view.reach(&extents).unwrap();
            assert!(lowest >= 0 && highest + 1 == stored.data.len() as i128, "{name} {shape:?}");
        }
    }
}

#[test]
fn arrangements_of_a_matrix() {
    let views: Vec<(u64, Vec<i64>, u64)> = Arrangement::NAMES
        .map(|(_, arrangement)| arrangement.view(&[3, 5]))
        .map(|(view, len)| (view.first, view.strides, len))
        .into();
    let expected = [
        (0, vec![5, 1], 15),
        (4, vec![12, 1], 33),
        (28, vec![-12, 1], 33),
        (0, vec![1, 3], 15),
        (14, vec![-5, -1], 15),
        (0, vec![0, 1], 5),
    ];
    assert_eq!(views, expected);
}
