//! The index IR: roles, the printed form, merged modes, and what `verify` refuses.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may")]

mod support;

use mage_einsum::diagnostic::Code;
use mage_einsum::dtype::Dtype;
use mage_einsum::index::{
    Layout, ModeId, Role, SameExtent, TensorId, TensorKind, center, merge, print, print_statement,
    verify,
};
use support::{first, program, program_with};

fn roles(notation: &str) -> String {
    let program = program(notation);
    let roles = program.statements[0].roles.iter();
    let told = roles.map(|(mode, role)| format!("{} {role}", program.mode(*mode).name));
    told.collect::<Vec<_>>().join(", ")
}

#[test]
fn every_mode_has_its_role() {
    let table = [
        ("ik,kj->ij", "i free left, k contracted, j free right"),
        ("ikc,jkc->ijc", "i free left, k contracted, c batch, j free right"),
        ("bij,bjk->ik", "b contracted, i free left, j contracted, k free right"),
        ("obk,ijk->ioj", "o free left, b reduced, k contracted, i free right, j free right"),
        ("ij->ji", "i free left, j free left"),
        ("ij->i", "i free left, j reduced"),
        ("ii->", "i reduced"),
        ("ij,jk,kl->il", "i free left, j contracted, k contracted, l free right"),
        ("bi,bj,bk->bijk", "b batch, i free left, j free right, k free right"),
        ("i,,i->i", "i free left"),
    ];
    for (notation, expected) in table {
        assert_eq!(roles(notation), expected, "{notation}");
    }
}

#[test]
fn the_table_of_modes() {
    let program = program_with("ik,kj->ij", "extents = (k = 64)").unwrap();
    let expected = "\
out[i,j] = sum(k) A[i,k] * B[k,j]

mode  role        extent   stands in
i     free left   runtime  A.0 out.0
k     contracted  64       A.1 B.0
j     free right  runtime  B.1 out.1
";
    assert_eq!(print(&program), expected);
}

#[test]
fn the_table_of_merged_modes() {
    let program = program_with("abcd,cdef->abef", "extents = (c = 4, d = 8, e = 2)").unwrap();
    let expected = "\
out[ab,ef] = sum(cd) A[ab,cd] * B[cd,ef]

mode  role        extent   stands in  parts
ab    free left   runtime  A.0 out.0  a * b
cd    contracted  32       A.1 B.0    c=4 * d=8
ef    free right  runtime  B.1 out.1  e=2 * f
";
    assert_eq!(print(&merge(&program)), expected);
}

#[test]
fn strided_operands_are_named_and_keep_their_modes_apart() {
    let program = program_with("abk,kcd->abcd", "strides = runtime").unwrap();
    verify(&program).unwrap();
    assert_eq!(merge(&program), program);
    let layouts: Vec<Layout> = program.tensors.iter().map(|tensor| tensor.layout).collect();
    assert_eq!(layouts, [Layout::Strided, Layout::Strided, Layout::RowMajor]);
    let text = print(&program);
    assert!(text.ends_with("\n\nstrides given at the launch: A, B\n"), "{text}");

    // Modes of temporaries and outputs alone would merge, if they were in no operand.
    let mut program = program_with("abk,kcd->abcd", "").unwrap();
    program.tensors[0].layout = Layout::Strided;
    let merged = merge(&program);
    verify(&merged).unwrap();
    assert_eq!(print_statement(&merged), "out[a,b,cd] = sum(k) A[a,b,k] * B[k,cd]");
}

#[test]
fn modes_that_always_stand_side_by_side_merge() {
    let table = [
        ("ik,kj->ij", "out[i,j] = sum(k) A[i,k] * B[k,j]"),
        ("ijkl,kl->ij", "out[ij] = sum(kl) A[ij,kl] * B[kl]"),
        ("abcd->", "out[] = sum(abcd) A[abcd]"),
        ("ij->ij", "out[ij] = A[ij]"),
        ("ij->ji", "out[j,i] = A[i,j]"),
        ("ijk->kij", "out[k,ij] = A[ij,k]"),
        ("ij,ij->ij", "out[ij] = A[ij] * B[ij]"),
        ("ij,ij->i", "out[i] = sum(j) A[i,j] * B[i,j]"),
        ("ijij->ij", "out[i,j] = A[i,j,i,j]"),
        ("bhqd,bhkd->bhqk", "out[bh,q,k] = sum(d) A[bh,q,d] * B[bh,k,d]"),
        ("kab,kab->k", "out[k] = sum(ab) A[k,ab] * B[k,ab]"),
        ("cab,d->dab", "out[d,ab] = sum(c) A[c,ab] * B[d]"),
        ("O[row,col] = A[row,col]", "O[row_col] = A[row_col]"),
        ("O[i,j,ij] = A[i,j] * B[ij]", "O[i_j,ij] = A[i_j] * B[ij]"),
        ("O[i,j,k,l] = A[i,j] * A[k,l]", "O[i,j,k,l] = A[i,j] * A[k,l]"),
        ("O[a,b,i,k] = A[a,b,i] * A[a,b,k]", "O[ab,i,k] = A[ab,i] * A[ab,k]"),
    ];
    for (notation, expected) in table {
        let merged = merge(&program(notation));
        verify(&merged).expect(notation);
        assert_eq!(print_statement(&merged), expected, "{notation}");
        assert_eq!(merge(&merged), merged, "{notation}");
    }
}

#[test]
fn a_merged_extent_is_fixed_only_if_it_fits() {
    let extent = |options: &str| {
        merge(&program_with("ij->ij", options).unwrap()).modes[0].extent.to_string()
    };
    assert_eq!(extent("extents = (i = 3, j = 5)"), "15");
    assert_eq!(extent("extents = (i = 3)"), "runtime");
    assert_eq!(extent("extents = (i = 65536, j = 65536)"), "runtime");
}

#[test]
fn a_tensor_read_twice_ties_its_modes() {
    let program = program("O[a,i,k] = A[a,i] * A[a,k]");
    let tie = SameExtent { tensor: TensorId(0), dim: 1, first: ModeId(1), other: ModeId(2) };
    assert_eq!(program.same_extents, [tie]);
    assert_eq!(program.tensors.len(), 2);
    let outcome = program_with("O[i,k] = A[i] * A[k]", "extents = (i = 2, k = 3)");
    assert_eq!(first(outcome).code, Code::ExtentMismatch);
}

#[test]
fn an_extent_of_an_unknown_label_is_a_bad_option() {
    let mistake = first(program_with("ij->i", "extents = (i = 2, x = 3)"));
    assert_eq!((mistake.code, mistake.span.unwrap().start), (Code::BadOption, 18));
    assert!(mistake.message.contains("`x`"), "{}", mistake.message);
}

const CENTERED: &str = "m[i] = mean(j) X[i,j]; Y[i,j] = X[i,j] - m[i]";

/// Inputs first, then temporaries, then the outputs in the order in which they are named.
#[test]
fn outputs_stand_in_the_order_of_their_names() {
    let names = |options: &str| -> Vec<(TensorKind, String)> {
        let tensors = program_with(CENTERED, options).unwrap().tensors.into_iter();
        tensors.map(|tensor| (tensor.kind, tensor.name)).filter(|(_, name)| name != "X").collect()
    };
    let (temp, output) = (TensorKind::Temp, TensorKind::Output);
    let owned = |all: &[(TensorKind, &str)]| -> Vec<(TensorKind, String)> {
        all.iter().map(|(kind, name)| (*kind, (*name).to_owned())).collect()
    };
    assert_eq!(names(""), owned(&[(temp, "m"), (output, "Y")]));
    assert_eq!(names("outputs = Y"), owned(&[(temp, "m"), (output, "Y")]));
    assert_eq!(names("outputs = (m, Y)"), owned(&[(output, "m"), (output, "Y")]));
    assert_eq!(names("outputs = (Y, m)"), owned(&[(output, "Y"), (output, "m")]));
    // What is read of a narrow output is what it was before it was rounded.
    let narrow = owned(&[(temp, "m_unrounded"), (output, "Y"), (output, "m")]);
    assert_eq!(names("outputs = (Y, m), dtype = bf16"), narrow);
    assert_eq!(names("outputs = (Y, m), dtype = bf16, out = f32").len(), 2);
}

#[test]
fn mistakes_of_outputs() {
    let twice = "m[i] = mean(j) X[i,j]; n[i] = max(j) X[i,j]; Y[i,j] = X[i,j] - m[i]";
    let bad = Code::BadOption;
    let table = [
        (CENTERED, "outputs = (Y, q)", bad, "`outputs` names `q`, which no statement writes", 14),
        (
            CENTERED,
            "outputs = (X, Y)",
            bad,
            "`outputs` names `X`, which is an operand: no statement writes it",
            11,
        ),
        (CENTERED, "outputs = (y)", bad, "`outputs` names `y`, which no statement writes", 11),
        (CENTERED, "outputs = m", Code::StatementOrder, "tensor `Y` is written but never read", 23),
        (
            twice,
            "outputs = (m, Y)",
            Code::StatementOrder,
            "tensor `n` is written but never read",
            23,
        ),
        (twice, "", Code::StatementOrder, "tensor `n` is written but never read", 23),
        ("ik,kj->ij", "outputs = C", bad, "`outputs` names `C`, which no statement writes", 10),
    ];
    for (notation, options, code, message, start) in table {
        let outcome = program_with(notation, options);
        let mistake = first(outcome);
        assert_eq!((mistake.code, mistake.message.as_str()), (code, message), "{options}");
        assert_eq!(mistake.span.unwrap().start, start, "{options}");
        assert!(mistake.place.is_some() && mistake.help.is_some(), "{options}");
    }
    let help = |options: &str| first(program_with(CENTERED, options)).help.unwrap();
    assert_eq!(help("outputs = (Y, q)"), "name what statements write: `m`, `Y`");
    assert_eq!(help("outputs = (y)"), "names are case-sensitive: write `Y` for `y`");
    assert!(help("outputs = m").contains("name it in `outputs`"));
    // The result of an einsum has a name, and so has that of an epilogue.
    assert!(program_with("ik,kj->ij", "outputs = out").is_ok());
    let both = program_with("ik,kj->ij", "outputs = (out, acc), epilogue = |acc| relu(acc)");
    assert_eq!(both.unwrap().tensors_of(TensorKind::Output).count(), 2);
}

/// The correction of a mean is a temporary, which moves the outputs; what they are called by moves
/// with them.
#[test]
fn centering_moves_outputs() {
    let notation = "Z[i,j] = X[i,j] + W[i,j]; m[i] = mean(j) Z[i,j]; n[i] = mean(j) X[i,j]; \
        v[i] = mean(j) (Z[i,j] - m[i])^2; w[i] = mean(j) (X[i,j] - n[i])^2; \
        d[i,k] = m[i] - m[k]";
    let program = program_with(notation, "outputs = (d, w, v, n, m, Z)").unwrap();
    let centered = center(&program);
    assert_eq!(verify(&centered), Ok(()));
    assert_eq!(
        print_statement(&centered),
        "Z[i,j] = X[i,j] + W[i,j]; m[i] = mean(j) Z[i,j]; m_low[i] = mean(j) (Z[i,j] - m[i]); \
         n[i] = mean(j) X[i,j]; n_low[i] = mean(j) (X[i,j] - n[i]); \
         v_raw[i] = mean(j) (Z[i,j] - m[i])^2; v[i] = max(v_raw[i] - m_low[i]^2, 0); \
         w_raw[i] = mean(j) (X[i,j] - n[i])^2; w[i] = max(w_raw[i] - n_low[i]^2, 0); \
         d[i,k] = m[i] - m[k]"
    );
    let tied = &centered.same_extents[0];
    assert_eq!(centered.tensor(tied.tensor).name, "m");
}

#[test]
fn verify_says_why_not() {
    let right = program("ikc,jkc->ijc");
    let told = |change: fn(&mut mage_einsum::index::Program)| {
        let mut wrong = right.clone();
        change(&mut wrong);
        verify(&wrong).unwrap_err()
    };
    let table = [
        (told(|p| p.statements[0].roles[0].1 = Role::Batch), "role"),
        (told(|p| p.statements[0].reduced.clear()), "target and the sum"),
        (told(|p| p.statements[0].reduced.push(ModeId(0))), "twice"),
        (told(|p| p.statements[0].target.modes[0] = ModeId(9)), "not a mode"),
        (told(|p| p.statements[0].target.tensor = TensorId(0)), "writes an input"),
        (told(|p| p.statements.clear()), "last statement"),
        (told(|p| p.modes[0].parts.clear()), "no part"),
        (told(|p| p.modes[0].name = "k".to_owned()), "two modes"),
        (told(|p| p.tensors.swap(0, 2)), "order"),
        (told(|p| p.tensors[2].layout = Layout::Strided), "it is no input"),
    ];
    for (why, expected) in table {
        assert!(why.contains(expected), "{why}");
    }
    let several = program_with(CENTERED, "outputs = (Y, m)").unwrap();
    let told = |change: fn(&mut mage_einsum::index::Program)| {
        let mut wrong = several.clone();
        change(&mut wrong);
        verify(&wrong).unwrap_err()
    };
    assert!(told(|p| p.tensors[1].dtype = Dtype::F16).contains("of two types"));
    let rounded = told(|p| p.tensors[1..].iter_mut().for_each(|t| t.dtype = Dtype::F16));
    assert!(rounded.contains("is rounded and then read"), "{rounded}");
    assert_eq!(verify(&right), Ok(()));
    assert_eq!(right.statements[0].role(ModeId(2)), Some(Role::Batch));
}
