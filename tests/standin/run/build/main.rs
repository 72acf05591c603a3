//! Writes the emitted source of every spec as a module, and one function a spec that hides its
//! labels and operands behind the signature that all of them share. The same for every function
//! of one number, and a module with index operands.

mod functions;
#[path = "../../../../mage-codegen/tests/emulate/neighbours.rs"]
mod neighbours;

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::{env, fs};

use mage_codegen::kernel::{self, Buffer, BufferUse, IndexUse, Module};
use mage_codegen::{emit, pipeline};
use mage_einsum::dtype::Dtype;
use mage_einsum::function::Function;
use mage_einsum::index::{Extent, Layout};
use mage_einsum::spec;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let specs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../specs");
    println!("cargo::rerun-if-changed={}", specs.display());
    let out = PathBuf::from(env::var("OUT_DIR")?);
    let mut paths: Vec<PathBuf> =
        fs::read_dir(&specs)?.map(|file| Ok(file?.path())).collect::<std::io::Result<_>>()?;
    paths.retain(|path| path.extension().is_some_and(|ending| ending == "spec"));
    // The folder has no order of its own.
    paths.sort();

    let mut specs = Written::default();
    for path in &paths {
        let name = path.file_stem().ok_or("a file")?.to_string_lossy();
        let levels = pipeline::compile(&spec::parse_file(&fs::read_to_string(path)?)?.spec)?;
        specs.add(&out, &name, &levels.module, &levels.source)?;
    }
    let mut functions = Written::default();
    for function in Function::ALL {
        let module = functions::module(function);
        kernel::verify(&module)?;
        functions.add(&out, function.name(), &module, &emit::source(&module)?)?;
    }
    fs::write(out.join("specs.rs"), specs.text("SPECS", "Every spec, by name."))?;
    let module = neighbours::module();
    kernel::verify(&module)?;
    let source = out.join("csr_source.rs");
    fs::write(&source, emit::source(&module)?)?;
    let text = format!("#[path = {source:?}]\npub mod csr;\n");
    fs::write(out.join("csr.rs"), text)?;
    let about = "Every function, in the order of `Function::ALL`.";
    fs::write(out.join("functions.rs"), functions.text("FUNCTIONS", about))?;
    Ok(())
}

/// The modules of a table, and the rows that name their launchers.
#[derive(Default)]
struct Written {
    modules: String,
    rows: String,
}

impl Written {
    fn add(
        &mut self,
        out: &Path,
        name: &str,
        module: &Module,
        text: &str,
    ) -> Result<(), Box<dyn std::error::Error>> {
        let source = out.join(format!("{}.rs", module.name));
        fs::write(&source, text)?;
        writeln!(self.modules, "#[path = {source:?}]\npub mod {name};")?;
        writeln!(self.rows, "    Emitted {{ name: {name:?}, launch: launch_{name} }},")?;
        self.modules += &launcher(name, module)?;
        Ok(())
    }

    fn text(self, table: &str, about: &str) -> String {
        let Written { modules, rows } = self;
        format!("{modules}/// {about}\npub const {table}: &[Emitted] = &[\n{rows}];\n")
    }
}

/// The function that calls one module's `launch`.
fn launcher(name: &str, module: &Module) -> Result<String, std::fmt::Error> {
    let given = |(position, label): (usize, &mage_codegen::kernel::Label)| match label.extent {
        Extent::Runtime => Some(format!("{}: extents[{position}], ", label.ident)),
        Extent::Fixed(_) => None,
    };
    let fields: String = module.labels.iter().enumerate().filter_map(given).collect();
    let inputs: Vec<&Buffer> =
        module.buffers.iter().filter(|one| one.usage == BufferUse::Read).collect();
    let mut text = String::new();
    writeln!(
        text,
        "fn launch_{name}(device: &Device, extents: &[usize], inputs: &[Operand], \
         indices: &[Vec<u32>], workspace: &[f64], outputs: &[Vec<f64>]) -> Result<Outputs, String> {{"
    )?;
    let handles = handles(&mut text, name, module)?;
    for (position, input) in inputs.iter().enumerate() {
        let ty = host_type(input.dtype);
        writeln!(
            text,
            "    let input_{position} = device.upload::<{ty}>(&inputs[{position}].data);"
        )?;
    }
    let (mut written, mut downloaded) = (String::new(), String::new());
    for (position, (_, output)) in module.outputs().enumerate() {
        let (ty, name) = (host_type(output.dtype), format!("output_{position}"));
        writeln!(text, "    let mut {name} = device.upload::<{ty}>(&outputs[{position}]);")?;
        written += &format!("&mut {name}, ");
        downloaded += &format!("device.download(&{name}), ");
    }
    let inputs: String = inputs
        .iter()
        .enumerate()
        .map(|(position, buffer)| match buffer.layout {
            Layout::RowMajor => format!("&input_{position}, "),
            Layout::Strided => view(name, position, buffer.dims.len()),
        })
        .collect();
    writeln!(text, "    let module = {name}::device::load(&device.context);")?;
    writeln!(text, "    let module = module.map_err(|error| error.to_string())?;")?;
    let mut given = String::new();
    if fields.is_empty() {
        writeln!(text, "    let _ = extents;")?;
    } else {
        writeln!(text, "    let extents = {name}::Extents {{ {fields}}};")?;
        given.push_str("&extents, ");
    }
    let workspace = if let Some(known) = &module.workspace {
        let ty = host_type(module.buffers[known.buffer.0].dtype);
        writeln!(text, "    let mut workspace = device.upload::<{ty}>(workspace);")?;
        "&mut workspace, "
    } else {
        writeln!(text, "    let _ = workspace;")?;
        ""
    };
    writeln!(
        text,
        "    {name}::launch(&module, &device.stream, {given}{inputs}{handles}{workspace}{written})"
    )?;
    writeln!(text, "        .map_err(|error| error.to_string())?;")?;
    writeln!(text, "    Ok(vec![{downloaded}])\n}}")?;
    Ok(text)
}

/// Makes the handles of index operands, and names them as arguments. Each says of its elements what
/// is true of them, whatever the extents are.
fn handles(text: &mut String, name: &str, module: &Module) -> Result<String, std::fmt::Error> {
    let operands = module.given().filter_map(|(_, buffer)| buffer.index);
    let mut arguments = String::new();
    for (position, operand) in operands.enumerate() {
        let (ty, bound) = match operand {
            IndexUse::Below(_) => ("Indices", "map_or(0, |most| *most as usize + 1)"),
            IndexUse::Parts { .. } => continue,
            IndexUse::Pointers { .. } => ("RowPointers", "map_or(0, |most| *most as usize)"),
        };
        let values = format!("&indices[{position}]");
        writeln!(text, "    let bound = indices[{position}].iter().max().{bound};")?;
        let made = format!("{name}::{ty}::new(&device.stream, {values}, bound)");
        writeln!(text, "    let index_{position} = {made}.map_err(|error| error.to_string())?;")?;
        arguments += &format!("&index_{position}, ");
    }
    if arguments.is_empty() {
        writeln!(text, "    let _ = indices;")?;
    }
    Ok(arguments)
}

/// The view of an operand, whose test gives as many strides as it has dimensions.
fn view(name: &str, position: usize, rank: usize) -> String {
    let input = format!("inputs[{position}]");
    let strides: Vec<String> = (0..rank).map(|dim| format!("{input}.strides[{dim}]")).collect();
    let strides = strides.join(", ");
    format!(
        "{name}::View {{ buffer: &input_{position}, first: {input}.first, strides: [{strides}] }}, "
    )
}

/// The type of a buffer's elements on the host.
fn host_type(dtype: Dtype) -> &'static str {
    match dtype {
        Dtype::F16 => "half::f16",
        Dtype::BF16 => "half::bf16",
        Dtype::F32 => "f32",
        Dtype::F64 => "f64",
    }
}
