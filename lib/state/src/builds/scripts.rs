//! The scripts.

use crate::scripts;

scripts! {
    /// Leases a build to one builder at a time.
    LEASE_BUILD = "lease_build", repeatable: true;
    /// Records that a graph is in use.
    TOUCH_GRAPH = "touch_graph", repeatable: true;
    /// Reports the progress of a build.
    REPORT_BUILD = "report_build", repeatable: true;
    /// Stages a part of a new graph.
    STAGE_GRAPH = "stage_graph", repeatable: true;
    /// Replaces the graph by the staged one.
    PUBLISH_GRAPH = "publish_graph", repeatable: false;
    /// Patches the stored graph.
    PATCH_GRAPH = "patch_graph", repeatable: false;
    /// Records why a build failed.
    FAIL_BUILD = "fail_build", repeatable: true;
    /// Returns the lease on a build.
    RETURN_LEASE = "return_lease", repeatable: true;
    /// Records that the stored graph cannot be read.
    DISCARD_GRAPH = "discard_graph", repeatable: true;
}
