//! The workspace of a run: one memory for all temporaries. Each element knows which temporary was
//! written there and by which launch, so that nothing else can pass for it.

use std::cell::Cell;
use std::rc::Rc;

/// The memory, before anything is written poisoned: no read of it succeeds.
pub(super) struct Workspace {
    elements: Vec<Cell<Element>>,
    /// The running launch.
    launch: Cell<usize>,
}

#[derive(Clone, Copy)]
struct Element {
    value: f64,
    /// The temporary and the launch that wrote it.
    written: Option<(usize, usize)>,
}

/// A temporary's part of the workspace.
pub(super) struct Part {
    /// The memory.
    pub workspace: Rc<Workspace>,
    /// Position of the temporary in `Module::buffers`.
    pub temp: usize,
    /// Its first element.
    pub first: usize,
}

impl Workspace {
    /// A workspace of so many elements.
    pub fn new(n_elems: usize) -> Workspace {
        let poison = Element { value: f64::NAN, written: None };
        Workspace { elements: vec![Cell::new(poison); n_elems], launch: Cell::new(0) }
    }

    /// Says which launch the next accesses belong to.
    pub fn starts(&self, launch: usize) {
        self.launch.set(launch);
    }
}

impl Part {
    /// Reads an element; otherwise what is wrong with it.
    pub fn read(&self, at: usize) -> Result<f64, &'static str> {
        let Element { value, written } = self.element(at)?.get();
        match written {
            Some((temp, launch)) if temp == self.temp && launch < self.workspace.launch.get() => {
                Ok(value)
            }
            Some((temp, _)) if temp == self.temp => Err("is read in the launch that writes it"),
            Some(_) | None => Err("is read but nothing wrote it"),
        }
    }

    /// Writes an element; otherwise what is wrong with it.
    pub fn write(&self, at: usize, value: f64) -> Result<(), &'static str> {
        let element = self.element(at)?;
        if element.get().written.is_some_and(|(temp, _)| temp == self.temp) {
            return Err("is written twice");
        }
        element.set(Element { value, written: Some((self.temp, self.workspace.launch.get())) });
        Ok(())
    }

    fn element(&self, at: usize) -> Result<&Cell<Element>, &'static str> {
        let place = self.first.checked_add(at);
        let element = place.and_then(|place| self.workspace.elements.get(place));
        element.ok_or("lies beyond the workspace")
    }
}
