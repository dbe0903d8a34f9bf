//! Panics through ten frames, caught by catch_unwind, on the main thread and on four at once.

use std::panic::{catch_unwind, resume_unwind, set_hook, AssertUnwindSafe};
use std::thread;

/// What std::hint::black_box does, which Debian 12's rustc does not have yet.
fn black_box(value: u64) -> u64 {
    unsafe { std::ptr::read_volatile(&value) }
}

struct Guard<'a>(&'a mut u64);

impl Drop for Guard<'_> {
    fn drop(&mut self) {
        *self.0 += 1;
    }
}

#[inline(never)]
#[no_mangle]
pub fn descend(depth: u64, dropped: &mut u64) -> u64 {
    let guard = Guard(dropped);
    if black_box(depth) == 0 {
        panic!("the bottom is reached");
    }
    let below = descend(depth - 1, guard.0);
    black_box(below) + 1
}

#[inline(never)]
fn rounds(count: u64) -> (u64, u64) {
    let (mut caught, mut dropped) = (0, 0);
    for round in 0..count {
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            let inner = catch_unwind(AssertUnwindSafe(|| descend(10, &mut dropped)));
            match inner {
                Err(cause) if round % 2 == 1 => resume_unwind(cause),
                Err(_) => 1,
                Ok(depth) => depth,
            }
        }));
        caught += outcome.unwrap_or(1000);
    }
    (caught, dropped)
}

fn main() {
    set_hook(Box::new(|_| {}));
    println!("alone: {:?}", rounds(1000));
    let threads: Vec<_> = (1..=4).map(|n| thread::spawn(move || rounds(500 * n))).collect();
    for joined in threads {
        println!("thread: {:?}", joined.join().unwrap());
    }
    println!("joined: {}", thread::spawn(|| descend(10, &mut 0)).join().is_err());
}
