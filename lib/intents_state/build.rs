//! Makes the part of the library that this crate has: see [`coord_library::write_part`].

fn main() {
    coord_library::write_part(&["../state/src"]);
}
