//! Plans with values to engine requests, replies to rows.

pub mod modification;
pub mod select;

use crate::analysis::terms::BindValue;
use cassling_engine::cluster::Cluster;
use cassling_engine::ring::{Consistency, NodeId};

/// What comes with a request beside the statement.
#[derive(Clone, Debug)]
pub struct Request<'v> {
    /// The cluster.
    pub cluster: &'v Cluster,
    /// Coordinator.
    pub node: NodeId,
    /// Values of the markers.
    pub values: &'v [BindValue<'v>],
    /// Consistency level.
    pub consistency: Consistency,
    /// Rows of a page; `None`: no paging.
    pub page_size: Option<u32>,
    /// Where the page before ended.
    pub paging_state: Option<&'v [u8]>,
    /// Timestamp given by the client, microseconds; USING TIMESTAMP goes before it.
    pub timestamp_micros: Option<i64>,
}
