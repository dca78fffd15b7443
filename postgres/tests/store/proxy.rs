//! A proxy between a store and its server that can drop data, break connections, and count.

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

/// A fault of one connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    /// Everything that the client sends from then on is lost silently.
    Lose,
    /// The server receives what the client sends, and its answer is lost silently.
    LoseAnswer,
    /// The server receives what the client sends, and the connection breaks.
    Break,
    /// The connection breaks, and the server is not informed.
    Vanish,
    /// The connection is closed before the server receives what the client sends, with an error of this code, as a
    /// server does it.
    End(&'static str),
}

/// The moment of a planned fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum When {
    /// At the round trip with this number.
    AtTrip(u64),
    /// When the client sends a COMMIT.
    AtCommit,
}

#[derive(Default)]
struct State {
    is_cut: Mutex<bool>,
    healed: Condvar,
    planned: Mutex<Option<(When, Fault)>>,
    lanes: Mutex<Vec<Arc<Lane>>>,
    /// The number of round trips: how often the client sent after the server did.
    trips: AtomicU64,
    is_clients_turn: AtomicBool,
    /// Bytes that the server sent.
    received: AtomicU64,
    /// Bytes that the client sent.
    sent: AtomicU64,
}

/// One connection.
#[derive(Default)]
struct Lane {
    loses_questions: AtomicBool,
    loses_answers: AtomicBool,
}

/// Forwards connections to a server.
pub(crate) struct Proxy {
    pub(crate) port: u16,
    state: Arc<State>,
}

impl Proxy {
    pub(crate) fn to(server: u16) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let state = Arc::new(State { is_clients_turn: AtomicBool::new(true), ..State::default() });
        let shared = Arc::clone(&state);
        std::thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                // If the server is down, the client sees its connection close.
                let Ok(upstream) = TcpStream::connect(("127.0.0.1", server)) else { continue };
                let lane = Arc::new(Lane::default());
                shared.lanes.lock().unwrap().push(Arc::clone(&lane));
                for stream in [&client, &upstream] {
                    stream.set_nodelay(true).unwrap();
                }
                let (questions, answers) = (Arc::clone(&shared), Arc::clone(&shared));
                let (asking, asked) = (client.try_clone().unwrap(), upstream.try_clone().unwrap());
                let of_questions = Arc::clone(&lane);
                std::thread::spawn(move || questions.ask(&of_questions, asking, asked));
                std::thread::spawn(move || answers.answer(&lane, upstream, client));
            }
        });
        Self { port, state }
    }

    /// Blocks all traffic, including new connections, until [`Proxy::heal`].
    pub(crate) fn cut(&self) {
        *self.state.is_cut.lock().unwrap() = true;
    }

    pub(crate) fn heal(&self) {
        *self.state.is_cut.lock().unwrap() = false;
        self.state.healed.notify_all();
    }

    /// Silently drops everything that is sent on the existing connections, permanently.
    pub(crate) fn forget(&self) {
        for lane in self.state.lanes.lock().unwrap().drain(..) {
            lane.loses_questions.store(true, Ordering::SeqCst);
            lane.loses_answers.store(true, Ordering::SeqCst);
        }
    }

    /// Plans a fault for the next COMMIT of the client.
    pub(crate) fn at_commit(&self, fault: Fault) {
        *self.state.planned.lock().unwrap() = Some((When::AtCommit, fault));
    }

    /// Plans a fault for the `trip`th round trip from now on.
    pub(crate) fn at_trip(&self, trip: u64, fault: Fault) {
        *self.state.planned.lock().unwrap() = Some((When::AtTrip(self.trips() + trip), fault));
    }

    /// Cancels the planned fault. Returns true if it had not happened yet.
    pub(crate) fn take_plan(&self) -> bool {
        self.state.planned.lock().unwrap().take().is_some()
    }

    pub(crate) fn is_planned(&self) -> bool {
        self.state.planned.lock().unwrap().is_some()
    }

    /// Returns the number of round trips, for a single active connection.
    pub(crate) fn trips(&self) -> u64 {
        self.state.trips.load(Ordering::SeqCst)
    }

    /// Returns the number of bytes that the client sent.
    pub(crate) fn sent(&self) -> u64 {
        self.state.sent.load(Ordering::SeqCst)
    }

    /// Returns the number of bytes that the server sent.
    pub(crate) fn received(&self) -> u64 {
        self.state.received.load(Ordering::SeqCst)
    }
}

impl State {
    fn wait(&self) {
        let mut is_cut = self.is_cut.lock().unwrap();
        while *is_cut {
            is_cut = self.healed.wait(is_cut).unwrap();
        }
    }

    /// Returns the fault that is due when the client sends these bytes.
    fn fault(&self, is_commit: bool) -> Option<Fault> {
        let mut planned = self.planned.lock().unwrap();
        let is_now = match *planned {
            Some((When::AtTrip(trip), _)) => self.trips.load(Ordering::SeqCst) >= trip,
            Some((When::AtCommit, _)) => is_commit,
            None => false,
        };
        if is_now { planned.take().map(|(_, fault)| fault) } else { None }
    }

    fn ask(&self, lane: &Lane, mut client: TcpStream, mut server: TcpStream) {
        let mut buffer = vec![0; 1 << 16];
        let mut commits = Commits::default();
        while let Ok(length) = client.read(&mut buffer) {
            self.wait();
            if length == 0 {
                break;
            }
            self.sent.fetch_add(length as u64, Ordering::SeqCst);
            if self.is_clients_turn.swap(false, Ordering::SeqCst) {
                self.trips.fetch_add(1, Ordering::SeqCst);
            }
            let fault = self.fault(commits.is_in(&buffer[..length]));
            if let Some(Fault::End(code)) = fault {
                client.write_all(&fatal(code)).ok();
                client.shutdown(Shutdown::Both).ok();
                break;
            }
            match fault {
                Some(Fault::Lose | Fault::Vanish) => {
                    lane.loses_questions.store(true, Ordering::SeqCst);
                    lane.loses_answers.store(true, Ordering::SeqCst);
                }
                Some(Fault::LoseAnswer) => lane.loses_answers.store(true, Ordering::SeqCst),
                Some(Fault::Break | Fault::End(_)) | None => {}
            }
            if !lane.loses_questions.load(Ordering::SeqCst) && server.write_all(&buffer[..length]).is_err() {
                break;
            }
            if fault == Some(Fault::Vanish) {
                client.shutdown(Shutdown::Both).ok();
                break;
            }
            if fault == Some(Fault::Break) {
                lane.loses_answers.store(true, Ordering::SeqCst);
                // The server executes the request before it notices that the connection is closed.
                std::thread::sleep(Duration::from_millis(50));
                client.shutdown(Shutdown::Both).ok();
                break;
            }
        }
        // The server is not informed of the end of a lost connection.
        if !lane.loses_questions.load(Ordering::SeqCst) {
            server.shutdown(Shutdown::Both).ok();
        }
    }

    fn answer(&self, lane: &Lane, mut server: TcpStream, mut client: TcpStream) {
        let mut buffer = vec![0; 1 << 16];
        while let Ok(length) = server.read(&mut buffer) {
            self.wait();
            let is_lost = lane.loses_answers.load(Ordering::SeqCst);
            if length == 0 {
                if !is_lost {
                    client.shutdown(Shutdown::Both).ok();
                }
                return;
            }
            if is_lost {
                continue;
            }
            self.received.fetch_add(length as u64, Ordering::SeqCst);
            self.is_clients_turn.store(true, Ordering::SeqCst);
            if client.write_all(&buffer[..length]).is_err() {
                return;
            }
        }
    }
}

/// Returns the message with which a server ends a connection.
fn fatal(code: &str) -> Vec<u8> {
    let fields = format!("SFATAL\0VFATAL\0C{code}\0Mterminating connection\0\0");
    let length = u32::try_from(fields.len() + 4).expect("a short message");
    [b"E".as_slice(), &length.to_be_bytes(), fields.as_bytes()].concat()
}

/// Detects when a client executes its prepared COMMIT statement. Messages this short are not split.
#[derive(Default)]
struct Commits {
    name: Option<Vec<u8>>,
}

impl Commits {
    fn is_in(&mut self, sent: &[u8]) -> bool {
        let find = |wanted: &[u8]| sent.windows(wanted.len()).position(|window| window == wanted);
        if let Some(end) = find(b"\0COMMIT\0") {
            // Parse: P, four bytes with the length, the name (s and a number), 0, the statement, 0.
            let start = sent[..end].iter().rposition(|byte| *byte == b's').unwrap_or(end);
            self.name = Some(sent[start..end].to_vec());
        }
        // Bind: B, four bytes with the length, the portal, 0, the name, 0.
        self.name.as_ref().is_some_and(|name| find(&[b"\0", name.as_slice(), b"\0"].concat()).is_some())
    }
}
