//! The moment of birth: a tool result is rewritten before it is first sent, when that costs nothing.

use serde_json::Value;

use super::placeholder::{Placeholder, tokens_of};
use super::{Action, Engine, FETCH_TOOL, Reply, Report};
use crate::content::Hints;
use crate::plan::measure::Meter;
use crate::reference::{ContentHash, Original};
use crate::store::{Batch, Millis, Printed, PrintedText, Receipt, Scope};
use crate::summarize::summarize;
use crate::tokens;
use crate::transcript::{Kind, Patch, Path, ToolResult, Transcript};

/// A proposed reference for one text block.
struct Proposal<'a> {
    block: usize,
    path: &'a Path,
    original: Original,
    placeholder: Placeholder<'a>,
    tokens_before: u64,
}

impl Engine {
    /// Replaces each oversize text of a fresh tool result by a reference and a summary.
    ///
    /// `call` is the assistant message that made the call, where known: it names the tool and its arguments.
    /// Left as they are: results of exact tools (the next edit needs their bytes), of the fetch tool, of skipped tools, the
    /// host's own files, texts at or under the threshold, texts that hold secrets, and images.
    ///
    /// A store that fails is no error here: the message comes back unchanged with [`Report::warning`] set.
    pub fn admit(&self, scope: &Scope, call: Option<&Value>, message: &Value, now: Millis) -> Reply {
        let messages: Vec<Value> = call.into_iter().chain([message]).cloned().collect();
        let transcript = Transcript::read(&messages);
        let Some(fresh) = transcript.messages.last() else { return Reply::default() };
        let proposals: Vec<Proposal> = fresh
            .blocks
            .iter()
            .enumerate()
            .filter_map(|(index, block)| match (block.kind, &block.result) {
                (Kind::Text(text), Some(result)) => self.propose_reference(index, &block.path, text, result),
                _ => None,
            })
            .collect();
        match self.refer(scope, &proposals, now) {
            Ok(reply) => reply,
            Err(error) => Reply::unchanged(Report { warning: Some((&error).into()), ..Report::default() }),
        }
    }

    fn propose_reference<'a>(
        &self,
        block: usize,
        path: &'a Path,
        text: &str,
        result: &ToolResult,
    ) -> Option<Proposal<'a>> {
        let tool = result.tool_name.unwrap_or_default();
        let oversize = text.chars().count() as u64 > self.config.sccs_compress_threshold;
        if !oversize || tool == FETCH_TOOL || self.config.is_exact_tool(tool) || !self.may_replace(result, text) {
            return None;
        }
        let stored = self.storable(text)?;
        Some(Proposal {
            block,
            path,
            placeholder: Placeholder::output(
                &stored,
                self.summary(&stored, result, self.config.sccs_summary_max_chars),
            ),
            original: Original::text(&stored, label(result)),
            tokens_before: tokens::count(text, self.config.encoding) as u64,
        })
    }

    /// A summary of a tool output for its placeholder.
    pub(super) fn summary(&self, text: &str, result: &ToolResult, max_chars: u64) -> String {
        let max_chars = usize::try_from(max_chars).unwrap_or(usize::MAX);
        summarize(text, &hints(result), max_chars, self.config.sccs_enable_smart_summary)
    }

    fn refer(&self, scope: &Scope, proposals: &[Proposal], now: Millis) -> crate::error::Result<Reply> {
        let originals: Vec<&Original> = proposals.iter().map(|proposal| &proposal.original).collect();
        let meter = Meter::new(None, self.config.encoding);
        let mut batch = Batch::default();
        let mut reply = Reply::default();
        for (proposal, id) in proposals.iter().zip(self.ids(&originals)?) {
            let Some(value) = proposal.placeholder.render(&id, self, &meter) else { continue };
            let tokens_after = tokens_of(&value, &meter);
            if tokens_after >= proposal.tokens_before {
                continue;
            }
            reply.report.actions.push(Action {
                message: 0,
                block: proposal.block,
                reason: "large",
                ref_id: Some(id.to_string()),
                tokens_before: proposal.tokens_before,
                tokens_after,
            });
            reply.report.tokens_before += proposal.tokens_before;
            reply.report.tokens_after += tokens_after;
            batch.printed.push(PrintedText {
                text: ContentHash::of(value.as_str().unwrap_or_default().as_bytes()),
                printed: Printed::Placeholder,
                original: proposal.original.hash,
            });
            batch.originals.push((id, proposal.original.clone()));
            reply.rewrite.patches.push(Patch { message: 0, path: proposal.path.clone(), value });
        }
        if !batch.originals.is_empty() {
            batch.receipts.push(Receipt {
                kind: "admit".into(),
                tokens_before: reply.report.tokens_before,
                tokens_after: reply.report.tokens_after,
                detail: serde_json::to_string(&reply.report.actions).unwrap_or_default(),
            });
        }
        self.put(scope, &batch, now)?;
        Ok(reply)
    }
}

/// What the host knows about a tool's output.
pub(super) fn hints(result: &ToolResult) -> Hints {
    Hints {
        tool_name: result.tool_name.map(str::to_owned),
        path: result.arguments.and_then(|arguments| arguments.file_path()),
        command: result.arguments.and_then(|arguments| arguments.command()),
        ..Hints::default()
    }
}

/// Where an output came from, in at most 120 characters: `exec: npm test`.
pub(super) fn label(result: &ToolResult) -> String {
    let tool = result.tool_name.unwrap_or("tool");
    let what = result.arguments.and_then(|arguments| arguments.file_path().or_else(|| arguments.command()));
    match what {
        Some(what) => format!("{tool}: {what}").chars().take(120).collect(),
        None => tool.chars().take(120).collect(),
    }
}
