//! The fills start as written down in the cases, and the normal fill has its moments.

use mage_einsum::fill::{Fill, fill};

#[test]
fn the_first_elements() {
    let table = [
        (Fill::Hash, 0, "-2 4 -2 -2 6 -4 1 4 3 2 3 4 -4 0 6 1"),
        (Fill::Hash, 1, "2 -2 3 0 6 0 -4 -4 5 3 1 5 -6 4 0 -5"),
        (Fill::Ternary, 0, "1 1 -1 1 1 0 0 1 -1 0 1 1"),
        (Fill::Wide, 0, "-2337 255 -1370 -1791 -2151 -2962 -1574 -2197"),
        (Fill::Ramp, 0, "1 2 3 4"),
    ];
    for (kind, seed, expected) in table {
        let elements = fill(kind, seed, expected.split(' ').count());
        let told: Vec<String> = elements.iter().map(f32::to_string).collect();
        assert_eq!(told.join(" "), expected, "{kind:?} {seed}");
    }
}

#[test]
fn the_normal_fill_has_mean_zero_and_deviation_a_quarter() {
    let elements = fill::<f32>(Fill::Normal, 3, 100_000);
    let n = elements.len() as f64;
    let mean = elements.iter().map(|x| f64::from(*x)).sum::<f64>() / n;
    let variance = elements.iter().map(|x| (f64::from(*x) - mean).powi(2)).sum::<f64>() / n;
    assert!(mean.abs() < 0.004, "{mean}");
    assert!((variance.sqrt() - 0.25).abs() < 0.003, "{variance}");
    assert_eq!(elements, fill(Fill::Normal, 3, 100_000));
    assert_ne!(elements[..8], fill(Fill::Normal, 4, 8)[..]);
}

#[test]
fn every_fill_has_a_name() {
    for (name, kind) in Fill::NAMES {
        assert_eq!(Fill::from_name(name), Some(kind));
    }
    assert_eq!(Fill::from_name("ones"), None);
}
