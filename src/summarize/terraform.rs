//! What terraform and OpenTofu plan to do -> the totals, what is wrong, and each resource under what is to be done to it.
//!
//! What cannot be undone comes first: a resource that is replaced or destroyed loses what it holds.

use std::sync::LazyLock;

use regex::Regex;

use super::line_pattern;
use super::numbers::which_lines;
use super::sheet::{Sheet, quote};
use crate::content::head;

/// Bytes of a line that are parsed.
const FRONT: usize = 600;

/// Resources and problems that are kept of each kind.
const KEPT: usize = 2_000;

/// `  # module.rds.aws_db_instance.orders must be replaced`: the resource, and what is to be done to it.
static ACTION: LazyLock<Regex> =
    LazyLock::new(|| line_pattern(r"^  # (\S.*?) (?:is tainted, so )?((?:will|must) be [a-z][a-z \-]*[a-z])"));

/// What is done to resources, the gravest first.
const ACTIONS: [&str; 7] = [
    "must be replaced",
    "will be replaced",
    "will be destroyed",
    "will be updated in-place",
    "will be created",
    "will be imported",
    "will be read during apply",
];

/// How the lines begin that say what all of it comes to.
const TOTALS: &[&str] = &["Plan: ", "Apply complete! ", "Destroy complete! "];

#[derive(Default)]
struct Plan<'t> {
    totals: Vec<&'t str>,
    /// By what is done to them, as in [`ACTIONS`].
    resources: [Vec<String>; ACTIONS.len()],
    /// What is done to the last of them; `None` where it is not kept.
    latest: Option<usize>,
    /// Errors and warnings, and which of them are errors.
    problems: Vec<(bool, String)>,
}

/// Writes the summary; false for a text that is no plan, or quotes one.
pub(super) fn summarize(text: &str, sheet: &mut Sheet) -> bool {
    if !text.contains("\nPlan: ") || text.contains("```") {
        return false;
    }
    let plan = Plan::read(text);
    if plan.resources.iter().all(Vec::is_empty) {
        return false;
    }
    plan.write(text, sheet);
    true
}

impl<'t> Plan<'t> {
    fn read(text: &'t str) -> Self {
        let mut plan = Self::default();
        for line in text.lines() {
            let line = head(line, FRONT);
            if let Some(found) = ACTION.captures(line) {
                let at = ACTIONS.iter().position(|action| *action == &found[2]);
                plan.latest = at.filter(|&at| plan.resources[at].len() < KEPT);
                if let Some(at) = plan.latest {
                    plan.resources[at].push(found[1].to_owned());
                }
            } else if plan.totals.len() < KEPT && TOTALS.iter().any(|start| line.starts_with(start)) {
                plan.totals.push(line);
            } else if line.contains("# forces replacement") {
                plan.add_reason(line);
            } else {
                plan.add_problem(line);
            }
        }
        plan
    }

    /// Names the attribute for which the last resource is replaced.
    fn add_reason(&mut self, line: &str) {
        let change = line.trim_start_matches([' ', '~', '+', '-', '/']);
        let attribute = change.split([' ', '=']).next().unwrap_or(change);
        if let Some(at) = self.latest
            && let Some(resource) = self.resources[at].last_mut()
        {
            resource.push_str(&format!(" ({attribute})"));
        }
    }

    /// `│ Error: Invalid index`, and below it `│   on main.tf line 4, in …`.
    fn add_problem(&mut self, line: &str) {
        let words = line.trim_start_matches(['│', ' ']);
        let is_error = words.starts_with("Error: ");
        if is_error || words.starts_with("Warning: ") {
            if self.problems.len() < KEPT {
                self.problems.push((is_error, words.to_owned()));
            }
        } else if let Some(place) = words.strip_prefix("on ").filter(|_| line.starts_with('│'))
            && let Some((_, problem)) = self.problems.last_mut()
        {
            problem.push_str(&format!(", on {}", place.split(',').next().unwrap_or(place)));
        }
    }

    fn write(&self, text: &str, sheet: &mut Sheet) {
        sheet.say(&format!("plan of changes, {}", which_lines(text)));
        let problems = |errors: bool| -> Vec<String> {
            let wanted = self.problems.iter().filter(|(is_error, _)| *is_error == errors);
            wanted.map(|(_, words)| quote(words, 200)).collect()
        };
        sheet.lines(&self.totals, sheet.share(40));
        sheet.lines(&problems(true), sheet.share(50));
        for (action, resources) in ACTIONS.iter().zip(&self.resources) {
            sheet.list(&format!("{action}:"), resources, sheet.share(70));
        }
        sheet.lines(&problems(false), sheet.share(50));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn summary(text: &str, max_chars: usize) -> String {
        let mut sheet = Sheet::new(max_chars);
        assert!(summarize(text, &mut sheet), "no plan");
        sheet.finish()
    }

    #[test]
    fn the_totals_and_what_is_replaced_come_first() {
        let text = "\
Terraform will perform the following actions:

  # module.queue.aws_sqs_queue.refunds will be created
  + resource \"aws_sqs_queue\" \"refunds\" {
      + arn = (known after apply)
    }

  # aws_db_instance.orders[\"eu central\"] must be replaced
-/+ resource \"aws_db_instance\" \"orders\" {
      ~ id                = \"db-1\" -> (known after apply)
      ~ storage_encrypted = false -> true # forces replacement
    }

  # aws_instance.old is tainted, so must be replaced
-/+ resource \"aws_instance\" \"old\" {
    }

  # module.queue.aws_sqs_queue.legacy will be destroyed
  # (because aws_sqs_queue.legacy is not in configuration)
  - resource \"aws_sqs_queue\" \"legacy\" {
    }

Plan: 3 to add, 0 to change, 3 to destroy.
╷
│ Warning: Argument is deprecated
│
│   with aws_db_instance.orders,
│   on modules/rds/main.tf line 18, in resource \"aws_db_instance\" \"orders\":
│
│ Use db_name instead
╵
";
        assert_eq!(
            summary(text, 600),
            "plan of changes, 31 lines\nPlan: 3 to add, 0 to change, 3 to destroy.\n\
             must be replaced: aws_db_instance.orders[\"eu central\"] (storage_encrypted), aws_instance.old\n\
             will be destroyed: module.queue.aws_sqs_queue.legacy\n\
             will be created: module.queue.aws_sqs_queue.refunds\n\
             Warning: Argument is deprecated, on modules/rds/main.tf line 18"
        );
    }

    #[test]
    fn a_real_plan_is_told_by_its_total_and_not_by_its_last_line() {
        let text = include_str!("../../fixtures/reports/terraform_plan_one_change.txt");
        assert_eq!(
            summary(text, 300),
            "plan of changes, 72 lines\nPlan: 0 to add, 1 to change, 0 to destroy.\n\
             will be updated in-place: terraform_data.escape_quotes_7"
        );
    }

    #[test]
    fn words_about_plans_are_none() {
        for text in [
            "Some words.\nPlan: buy milk.\nMore words.\n",
            "# Notes\n\n```\n  # aws_sqs_queue.a will be created\n\nPlan: 1 to add, 0 to change, 0 to destroy.\n```\n",
        ] {
            assert!(!summarize(text, &mut Sheet::new(300)), "{text}");
        }
    }
}
