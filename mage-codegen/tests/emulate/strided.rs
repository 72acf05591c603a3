//! Strided buffers: offsets with a sign, their overflow, what `verify` refuses of them.

use mage_codegen::emulate::{Arguments, Failure, Input, Output, run};
use mage_codegen::kernel::{
    BinOp, BufferId, BufferUse, Expr, HostError, HostExpr, HostPred, HostStep, Kernel, Module,
    Param, ParamValue, Ty, VarId, print, verify,
};
use mage_einsum::index::Layout;
use mage_einsum::view::View;

use crate::build::{
    Builder, at, bind, fill, global, load_when, module, n, serial, store_when, v, when,
};

const A: BufferId = BufferId(0);

/// `i->i` from a strided buffer; an offset is the coordinate, with its sign, times the stride.
fn copy(offset: fn(VarId, VarId) -> Expr) -> Module {
    let mut b = Builder::new(32);
    let extent = b.extent("i_extent", 0);
    let i = b.var("i");
    let stride = b.typed_var("a_stride_i", Ty::I64, false);
    let value = ParamValue::Stride { buffer: A, dims: vec![0] };
    b.kernel.params.push(Param { var: stride, value });
    let one = b.registers("one", 1);
    let inside = v(i).less(extent);
    b.kernel.body = vec![
        bind(i, Expr::Block.times(n(32)).plus(Expr::Thread)),
        fill(one),
        load_when(at(one, n(0)), global(0), offset(i, stride), inside.clone()),
        store_when(global(1), v(i).widen(), at(one, n(0)), inside),
    ];
    let blocks = HostExpr::Extent(0).ceil_div(32);
    let mut module = module(&["i"], &[&[0], &[0]], blocks, b.kernel);
    module.buffers[0].layout = Layout::Strided;
    let (that, error) = (HostPred::InBuffer(A), HostError::OutOfBuffer { buffer: A });
    module.host.insert(0, HostStep::Require { that, error });
    module
}

fn right(i: VarId, stride: VarId) -> Expr {
    v(i).signed().times(v(stride))
}

fn output(module: &Module, extent: u8, view: &View) -> Result<Vec<f64>, String> {
    let data: Vec<f64> = (0..100_u8).map(f64::from).collect();
    let inputs = [Input { data: &data, view: Some(view), byte_alignment: 16 }];
    let arguments = Arguments {
        extents: &[u64::from(extent)],
        inputs: &inputs,
        indices: &[],
        outputs: &[Output { len: usize::from(extent), before: &[], byte_alignment: 16 }],
        workspace_len: None,
        workspace_byte_alignment: 16,
    };
    match run(module, &arguments) {
        Ok(mut run) => Ok(run.outputs.remove(0)),
        Err(Failure::Host(failure)) => Err(format!("host: {failure}")),
        Err(Failure::Trap(trap)) => Err(format!("trap: {trap}")),
    }
}

fn view(first: u64, stride: i64) -> View {
    View { first, strides: vec![stride] }
}

#[test]
fn offsets_count_from_where_the_view_begins() {
    let module = copy(right);
    assert_eq!(verify(&module), Ok(()));
    assert_eq!(output(&module, 3, &view(5, 7)), Ok(vec![5.0, 12.0, 19.0]));
    assert_eq!(output(&module, 4, &view(99, -33)), Ok(vec![99.0, 66.0, 33.0, 0.0]));
    assert_eq!(output(&module, 40, &view(2, 0)), Ok(vec![2.0; 40]));
    assert_eq!(output(&module, 1, &view(99, i64::MIN)), Ok(vec![99.0]));
    assert_eq!(
        output(&module, 4, &view(98, -33)),
        Err("host: operand `A` reaches elements -1 to 98 but its buffer has 100: the view begins \
             at 98 and has stride -33 along `i` = 4"
            .to_owned())
    );
}

#[test]
fn what_leaves_the_buffer_or_its_type_traps() {
    let told = |offset, view: &View| {
        let mut module = copy(offset);
        module.host.remove(0);
        output(&module, 4, view).unwrap_err()
    };
    let below = told(right, &view(98, -33));
    assert!(
        below.contains("thread 3, at `2: load predicated one from a`: `a[-1]`, 1 wide"),
        "{below}"
    );
    let above = told(right, &view(1, 33));
    assert!(above.contains("`a[100]`, 1 wide, is out of bounds: the buffer has 100"), "{above}");
    let far = told(right, &view(0, i64::MIN));
    assert!(far.contains("thread 2") && far.contains("Mul of 2 and -9223372036854775808"), "{far}");
    let sum = told(|i, stride| v(i).signed().plus(v(stride)), &view(0, i64::MAX - 1));
    assert!(sum.contains("Add of 2 and 9223372036854775806 has no result in i64"), "{sum}");
    let difference = told(|i, stride| v(stride).minus(v(i).signed()), &view(1, 0));
    assert!(difference.contains("thread 2") && difference.contains("`a[-1]`"), "{difference}");
    let large = |_: VarId, _: VarId| Expr::u64(u64::MAX).plus(Expr::u64(0)).signed();
    assert!(told(large, &view(0, 0)).contains("18446744073709551615 does not fit i64"));
}

#[test]
fn a_diagonal_has_the_sum_of_its_strides() {
    let mut module = copy(right);
    module.buffers[0].dims = vec![0, 0];
    module.kernels[0].params[1].value = ParamValue::Stride { buffer: A, dims: vec![0, 1] };
    let view = |strides: &[i64]| View { first: 0, strides: strides.to_vec() };
    assert_eq!(output(&module, 3, &view(&[10, 1])), Ok(vec![0.0, 11.0, 22.0]));
    assert_eq!(output(&module, 1, &view(&[i64::MAX, i64::MAX])), Ok(vec![0.0]));
    let text = print(&module);
    assert!(text.contains("a_stride_i: i64 = stride(a, i 0) + stride(a, i 1)"), "{text}");
}

#[test]
fn the_text_shows_strides_and_signs() {
    let text = print(&copy(right));
    for part in [
        "reads a: f32[i], strides given at the launch",
        "require view(a) in bounds, else A out of its buffer",
        "param a_stride_i: i64 = stride(a, i)",
        "global a[i64(i) * a_stride_i]",
    ] {
        assert!(text.contains(part), "no {part:?} in\n{text}");
    }
}

/// What `verify` says of a module after it was spoilt.
fn spoilt(spoil: fn(&mut Module)) -> String {
    let mut module = copy(right);
    spoil(&mut module);
    verify(&module).err().unwrap_or_default()
}

fn kernel(module: &mut Module) -> &mut Kernel {
    &mut module.kernels[0]
}

#[test]
fn verify_refuses() {
    let told = |offset| verify(&copy(offset)).unwrap_err();
    assert!(told(|i, _| v(i).widen()).contains("a global offset is U64, not I64"));
    assert!(told(|_, stride| v(stride).signed()).contains("a sign for what has one"));
    assert!(told(|_, stride| v(stride).widen()).contains("a widening of i64"));
    assert!(told(|_, stride| v(stride).narrow().signed()).contains("a narrowing of i64"));
    assert!(told(|i, stride| v(i).widen().times(v(stride))).contains("Mul of U64 and I64"));
    let divided = |_: VarId, stride: VarId| {
        Expr::Binary(BinOp::Div, Box::new(v(stride)), Box::new(Expr::i64(2)))
    };
    assert!(told(divided).contains("Div of I64"));

    let compared = spoilt(|m| {
        let stride = v(VarId(2));
        kernel(m).body.push(when(stride.clone().less(stride), vec![]));
    });
    assert!(compared.contains("the left side of a comparison has a sign"), "{compared}");
    let looped = spoilt(|m| {
        let count = VarId(kernel(m).vars.len());
        let var = mage_codegen::kernel::Var { name: "x".into(), ty: Ty::I64, mutable: false };
        kernel(m).vars.push(var);
        kernel(m).body.push(serial(count, Expr::i64(2), 1, vec![]));
    });
    assert!(looped.contains("the loop's begin"), "{looped}");

    let row_major = spoilt(|m| m.buffers[0].layout = Layout::RowMajor);
    assert!(row_major.contains("BufferId(0) is not strided"), "{row_major}");
    let strided_output = spoilt(|m| m.buffers[1].layout = Layout::Strided);
    assert!(strided_output.contains("buffer `OUT` is strided but no input"), "{strided_output}");
    assert_eq!(copy(right).buffers[1].usage, BufferUse::Write);
    let beyond = spoilt(|m| {
        kernel(m).params[1].value = ParamValue::Stride { buffer: A, dims: vec![1] };
    });
    assert!(beyond.contains("dimension 1 of BufferId(0) does not exist"), "{beyond}");
    let unsigned = spoilt(|m| kernel(m).vars[2].ty = Ty::U64);
    assert!(unsigned.contains("is passed as Some(U64)"), "{unsigned}");
    let asked = |that: HostPred| {
        let mut module = copy(right);
        module.host.insert(0, HostStep::ReturnIf(that));
        verify(&module)
    };
    assert!(
        asked(HostPred::UnitStride(A, 1)).is_err() && asked(HostPred::UnitStride(A, 0)).is_ok()
    );
    assert!(asked(HostPred::StrideMultipleOf(A, 0, 0)).is_err());
    assert!(asked(HostPred::InBuffer(BufferId(1))).is_err());
}
