//! The declaration of scripts.

/// Declares the scripts of a folder of the state, each as `CONSTANT = "file", repeatable: bool;`, and their list.
#[macro_export]
macro_rules! scripts {
    ($($(#[$doc:meta])* $constant:ident = $name:literal, repeatable: $repeatable:literal;)*) => {
        $(
            $(#[$doc])*
            pub static $constant: coord_store::Script =
                coord_store::Script::of($crate::libraries::library, $name, $repeatable);
        )*
        pub(crate) static SCRIPTS: &[&coord_store::Script] = &[$(&$constant),*];
    };
}
