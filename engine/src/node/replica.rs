//! What a replica does with a message. Plain functions: nothing here waits for another node.

use super::message::{Message, Reply, Want};
use super::{Node, system_rows};
use crate::error::Error;
use crate::lsm::LocalRead;
use crate::row::thresholds::ReadThresholds;
use crate::row::{Mutation, ReadCommand, merge};
use crate::schema::Table;

/// Does what the message asks and answers. Requires: the node is up.
pub fn handle(node: &Node, message: &Message) -> Reply {
    let answer = match message {
        Message::Mutation(mutation) | Message::ReadRepair(mutation) => {
            apply(node, mutation).map(|()| Reply::Applied)
        }
        Message::Read { command, want } => read(node, command, *want),
        Message::Truncate(table) => truncate(node, table).map(|()| Reply::Applied),
    };
    answer.unwrap_or_else(Reply::Failed)
}

/// Applies a mutation to its table.
///
/// # Errors
/// The table is gone, or [`Error::Storage`].
pub fn apply(node: &Node, mutation: &Mutation) -> Result<(), Error> {
    let view = node.view();
    node.make_room(&view)?;
    let store = node.store(&view, &mutation.table)?;
    store.apply(mutation)?;
    node.after_flush(mutation.table.id, store);
    Ok(())
}

/// Reads live rows from this node alone.
///
/// # Errors
/// The table is gone, or a failure of the store.
pub fn read_rows(node: &Node, command: &ReadCommand) -> Result<LocalRead, Error> {
    if command.table.is_virtual {
        return system_rows::read(node, command);
    }
    let view = node.view();
    let thresholds = ReadThresholds::of(&view.settings, &command.table.keyspace);
    node.store(&view, &command.table)?.read_within(command, thresholds)
}

fn read(node: &Node, command: &ReadCommand, want: Want) -> Result<Reply, Error> {
    if want == Want::Rows {
        return read_rows(node, command).map(Reply::Rows);
    }
    let view = node.view();
    let thresholds = ReadThresholds::of(&view.settings, &command.table.keyspace);
    let data = node.store(&view, &command.table)?.read_for_merge_within(command, thresholds)?;
    Ok(match want {
        Want::Rows | Want::Data => Reply::Data(data),
        Want::Digest => Reply::Digest {
            digest: merge::digest(&data.partitions),
            cost: data.cost,
            trace: data.trace,
            notices: data.notices,
        },
    })
}

fn truncate(node: &Node, table: &Table) -> Result<(), Error> {
    node.store(&node.view(), table)?.truncate()
}
