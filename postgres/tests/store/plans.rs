//! How the server finds rows, and how long a commit takes.
