//! Gateways as child processes, which run this same program.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::Sender;

use crate::messages::{Event, Plan, Told};

/// The argument that makes this program a gateway.
pub(crate) const GATEWAY: &str = "--as-gateway";

/// A running gateway.
pub(crate) struct Process {
    child: Child,
    input: Option<ChildStdin>,
    /// The number that its events carry.
    pub(crate) number: usize,
}

/// A message from a process: an event, or its end with the error if there is one.
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
        // The plan is not an argument: other users of the machine can read arguments, and the address may contain a
        // password.
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
                        // The run is over if nobody receives events any more.
                        let Ok(()) = heard.send((number, Heard::Event(event))) else { return };
                    }
                    Err(error) => wrong = Some(error),
                }
            }
            drop(heard.send((number, Heard::Ended(wrong))));
        });
        Ok(Self { child, input: Some(input), number })
    }

    /// Sends a message. It is lost if the gateway has ended; that is noticed by its end event.
    pub(crate) fn tell(&mut self, told: &Told) {
        let Some(input) = &mut self.input else { return };
        let mut line = serde_json::to_string(told).expect("what is told has no maps with other keys than strings");
        line.push('\n');
        if input.write_all(line.as_bytes()).is_err() {
            self.input = None;
        }
    }

    /// Kills the process, as in a crash.
    pub(crate) fn kill(&mut self) -> Result<(), String> {
        self.child.kill().and_then(|()| self.child.wait()).map(drop).map_err(|error| error.to_string())
    }

    /// Waits for the process to end. Returns the error if there is one.
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
    /// A gateway must not outlive the process that started it.
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}
