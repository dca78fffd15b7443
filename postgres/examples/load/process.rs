//! Gateways as processes: this program, started again.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::Sender;

use crate::messages::{Event, Plan, Told};

/// The word by which this program knows that it is a gateway.
pub(crate) const GATEWAY: &str = "--as-gateway";

/// A gateway that runs.
pub(crate) struct Process {
    child: Child,
    input: Option<ChildStdin>,
    /// What its events come under.
    pub(crate) number: usize,
}

/// What comes from a process: an event, or its end with what is wrong with it.
pub(crate) enum Heard {
    Event(Event),
    Ended(Option<String>),
}

impl Process {
    pub(crate) fn start(number: usize, plan: &Plan, heard: &Sender<(usize, Heard)>) -> Result<Self, String> {
        let program = std::env::current_exe().map_err(|error| format!("this program is not known: {error}"))?;
        let mut command = Command::new(program);
        command.arg(GATEWAY).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().map_err(|error| format!("a gateway does not start: {error}"))?;
        let output = child.stdout.take().ok_or("a gateway has no output")?;
        let mut input = child.stdin.take().ok_or("a gateway has no input")?;
        // Not as an argument: others on the machine may read those, and the address may hold a password.
        let mut line = serde_json::to_string(plan).map_err(|error| error.to_string())?;
        line.push('\n');
        input.write_all(line.as_bytes()).map_err(|error| format!("gateway {number}: {error}"))?;
        let heard = heard.clone();
        std::thread::spawn(move || {
            let mut wrong = None;
            for line in BufReader::new(output).split(b'\n') {
                let event = line.map_err(|error| error.to_string()).and_then(|line| {
                    serde_json::from_slice(&line)
                        .map_err(|error| format!("{error}: {}", String::from_utf8_lossy(&line)))
                });
                match event {
                    Ok(event) => {
                        // Where nobody listens any more the run is over.
                        let Ok(()) = heard.send((number, Heard::Event(event))) else { return };
                    }
                    Err(error) => wrong = Some(error),
                }
            }
            drop(heard.send((number, Heard::Ended(wrong))));
        });
        Ok(Self { child, input: Some(input), number })
    }

    /// Tells it something. One that has ended hears nothing, and its end is heard of.
    pub(crate) fn tell(&mut self, told: &Told) {
        let Some(input) = &mut self.input else { return };
        let mut line = serde_json::to_string(told).expect("what is told has no maps with other keys than strings");
        line.push('\n');
        if input.write_all(line.as_bytes()).is_err() {
            self.input = None;
        }
    }

    /// Ends it as a crash does.
    pub(crate) fn kill(&mut self) -> Result<(), String> {
        self.child.kill().and_then(|()| self.child.wait()).map(drop).map_err(|error| error.to_string())
    }

    /// Waits for its end; what is wrong with that.
    pub(crate) fn wait(&mut self) -> Option<String> {
        self.input = None;
        match self.child.wait() {
            Ok(status) if status.success() => None,
            Ok(status) => Some(format!("gateway {} ended with {status}", self.number)),
            Err(error) => Some(format!("gateway {}: {error}", self.number)),
        }
    }
}

impl Drop for Process {
    /// A gateway does not outlive who started it.
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}
