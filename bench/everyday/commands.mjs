// The commands to record, as data. A family is one tool. All outputs of a tool are in one half, so that what was tuned
// on one half is measured on tools that were not used for tuning. Families of one area (listings, processes, …)
// alternate between the halves.
//
// `in`: the scratch project to run in (`projects.mjs`); `with`: other projects that must exist. `needs`: required
// programs, if the first word of the command does not name them. `terminal`: run on a pseudo-terminal, for colours and
// progress bars. `seconds`: the time limit of a command (default 30).

/** A filter for the variables of the recording person's environment that no recording may show. */
const PLAIN = "grep -viE 'token|key|secret|passw|auth|proxy|cert|_ca_|index_url|sandbox|container'";

const tuning = (family, commands, more = {}) => ({ family, half: "tuning", commands, ...more });
const heldOut = (family, commands, more = {}) => ({ family, half: "held-out", commands, ...more });

export const families = [
  // Listings.
  tuning(
    "ls",
    {
      "usr-bin": "ls -la /usr/bin | head -n 400",
      etc: "ls -la /etc",
      recursive: "ls -lR src",
      human: "ls -lhS /usr/lib/x86_64-linux-gnu | head -n 250",
      inodes: "ls -lai --time-style=full-iso /var/lib/dpkg/info | head -n 200",
      names: "ls /usr/share/doc",
      dev: "ls -l /dev",
    },
    { in: "javascript" },
  ),
  heldOut(
    "find",
    {
      ls: "find src -ls",
      names: "find . -type f -name '*.js'",
      printf: "find /usr/share/perl5 -type f -printf '%M %u %g %10s %TY-%Tm-%Td %TH:%TM %p\\n'",
      directories: "find /usr/lib/python3 -maxdepth 3 -type d",
      newest: "find . -type f -printf '%T@ %p\\n' | sort -rn | head -n 60",
    },
    { in: "javascript" },
  ),
  tuning(
    "stat",
    {
      files: "stat src/*/*.js | head -n 300",
      format: "stat -c '%A %h %U %G %s %y %n' /usr/bin/* | head -n 200",
      filesystem: "stat -f / /tmp /dev /proc /sys",
    },
    { in: "javascript" },
  ),
  heldOut(
    "tree",
    {
      plain: "tree src",
      sizes: "tree -h -D src",
      two: "tree -L 2 /usr/share/perl5",
      directories: "tree -d /usr/lib/python3",
    },
    { in: "javascript" },
  ),
  tuning(
    "du",
    {
      two: "du -h --max-depth=2 /usr/lib | head -n 200",
      all: "du -a src",
      sorted: "du -k /usr/share | sort -rn | head -n 100",
    },
    { in: "javascript" },
  ),
  heldOut("mounts", {
    df: "df -aT",
    "df-inodes": "df -i -a",
    mount: "mount",
    findmnt: "findmnt",
    "findmnt-df": "findmnt --df -a",
    lsblk: "lsblk -a -o NAME,MAJ:MIN,RM,SIZE,RO,TYPE,MOUNTPOINTS,SCHED,RQ-SIZE",
    mountinfo: "cat /proc/self/mountinfo",
  }),

  // Processes and counters.
  tuning("ps", {
    aux: "ps aux",
    full: "ps -ef",
    forest: "ps axjf",
    threads: "ps -eLo pid,tid,class,rtprio,ni,pri,psr,pcpu,stat,wchan:14,comm",
    memory: "ps -eo pid,ppid,user,rss,vsz,pmem,etime,comm --sort=-rss",
  }),
  heldOut("top", { once: "top -b -n1", twice: "top -b -n3 -d 0.5 | head -n 240", threads: "top -b -H -n1 -w 160" }),
  tuning("pstree", { ids: "pstree -p", arguments: "pstree -alp" }),
  heldOut("lsof", {
    node: "lsof -p $(pgrep -n node)",
    all: "lsof -n -P 2>/dev/null | head -n 400",
    libraries: "lsof -n -P -d mem,txt -p $$",
  }),
  tuning("vmstat", { seconds: "vmstat 1 12", slabs: "vmstat -m", sums: "vmstat -s", disks: "vmstat -d" }),
  heldOut(
    "sysstat",
    {
      iostat: "iostat -xz 1 3",
      mpstat: "mpstat -P ALL 1 3",
      pidstat: "pidstat -u -r 1 3",
      pressure: 'for f in cpu io memory; do echo "=== $f ==="; cat /proc/pressure/$f; done',
    },
    { needs: ["iostat"] },
  ),

  // The system.
  tuning("env", {
    sorted: `env | ${PLAIN} | sort`,
    set: `bash -c set | ${PLAIN}`,
    locale: "locale; locale -a",
    limits: "ulimit -a; getconf -a",
  }),
  heldOut("sysctl", { all: "sysctl -a", net: "sysctl net.ipv4", vm: "sysctl vm kernel.sched_autogroup_enabled fs" }),
  tuning("cpu", {
    info: "cat /proc/cpuinfo",
    lscpu: "lscpu; lscpu -e; lscpu -C",
    interrupts: "cat /proc/interrupts",
    stat: "cat /proc/stat /proc/softirqs",
  }),
  heldOut("memory", {
    free: "free -h -w -s 1 -c 8",
    info: "cat /proc/meminfo",
    maps: "cat /proc/self/maps",
    smaps: "cat /proc/self/smaps | head -n 300",
    zones: "cat /proc/zoneinfo",
    vmstat: "cat /proc/vmstat",
    slabs: "cat /proc/slabinfo",
  }),
  tuning("dmesg", { plain: "dmesg", readable: "dmesg -T | tail -n 200" }),
  heldOut("systemctl", {
    files: "systemctl --root=/ list-unit-files",
    units: "cat /lib/systemd/system/systemd-*.service | head -n 300",
    lsmod: "cat /proc/modules /proc/devices /proc/filesystems",
    ipcs: "lsipc; lsns",
    login: "cat /etc/login.defs",
  }),
  tuning(
    "settings",
    {
      ssh: "cat /etc/ssh/ssh_config /etc/ssl/openssl.cnf",
      adduser: "cat /etc/adduser.conf /etc/nsswitch.conf /etc/host.conf /etc/gai.conf",
      bashrc: "cat /etc/bash.bashrc /etc/profile /etc/skel/.bashrc",
    },
    { needs: ["cat"] },
  ),

  // Packages.
  tuning("dpkg", {
    list: "dpkg -l",
    status: "dpkg -s bash coreutils git libc6 openssl python3",
    files: "dpkg -L coreutils git",
    search: "dpkg -S /usr/bin/* 2>&1 | head -n 200",
    query: "dpkg-query -W -f '${Package} ${Version} ${Installed-Size}\\n'",
  }),
  heldOut("apt", {
    list: "apt list --installed",
    policy: "apt-cache policy bash git curl openssl python3 gcc",
    show: "apt-cache show git curl nginx",
    search: "apt-cache search 'json' | head -n 250",
    depends: "apt-cache depends git gcc openssl curl",
    simulate: "apt-get install -s nginx mariadb-server",
    rdepends: "apt-cache rdepends zlib1g | head -n 200",
  }),
  tuning(
    "pip",
    {
      list: "pip list",
      freeze: "pip freeze",
      show: "pip show -f flask",
      check: "pip check; pip debug",
      inspect: "pip show pip requests flask jinja2 click werkzeug mypy ruff pylint pytest",
      install: "pip install --dry-run --ignore-installed 'jupyter-server'",
    },
    { tools: "python", seconds: 120 },
  ),
  heldOut(
    "npm",
    {
      "ls-one": "npm ls --depth=1",
      "ls-all": "npm ls --all",
      outdated: "npm outdated",
      view: "npm view express",
      "view-versions": "npm view eslint versions",
      explain: "npm explain ms debug",
      fund: "npm fund",
      install: "npm install --dry-run --no-audit react-scripts",
      help: "npm help config | head -n 400",
    },
    { tools: "node", in: "packages", seconds: 120 },
  ),
  tuning(
    "yarn",
    {
      list: "yarn list",
      "list-one": "yarn list --depth=0",
      why: "yarn why debug",
      info: "yarn info express",
      outdated: "yarn outdated",
      licenses: "yarn licenses list",
    },
    { tools: "node", in: "yarn", seconds: 120 },
  ),
  heldOut(
    "pnpm",
    {
      list: "pnpm list --depth 1",
      deep: "pnpm list --depth 10",
      why: "pnpm why debug ms",
      outdated: "pnpm outdated",
      licenses: "pnpm licenses list",
      install: "pnpm install --frozen-lockfile --force --reporter append-only",
    },
    { tools: "node", in: "pnpm", seconds: 120 },
  ),
  tuning(
    "cargo-tree",
    {
      tree: "cargo tree --offline",
      duplicates: "cargo tree --offline --duplicates -e normal",
      features: "cargo tree --offline -e features -i serde",
      prefix: "cargo tree --offline --prefix depth -f '{p} {l} {r}'",
      inverted: "cargo tree --offline -i libc",
      metadata: "cargo metadata --offline --format-version 1 --no-deps",
    },
    { in: "project" },
  ),
  tuning(
    "cargo-lock",
    { cat: "cat Cargo.lock", changed: "grep -A1 '^name' Cargo.lock" },
    { in: "project", needs: ["cargo"] },
  ),
  heldOut("yarn-lock", { cat: "cat yarn.lock" }, { in: "yarn" }),
  heldOut("pnpm-lock", { cat: "cat pnpm-lock.yaml" }, { in: "pnpm" }),
  tuning("npm-lock", { head: "head -n 700 package-lock.json" }, { in: "packages" }),
  heldOut("uv-lock", { cat: "cat uv.lock", tree: "uv tree --frozen" }, { in: "uv", needs: ["uv"], tools: "python" }),
  tuning(
    "go-mod",
    {
      sum: "cat $(go env GOROOT)/src/go.sum $(go env GOROOT)/src/cmd/go.sum",
      env: "go env; go version -m $(which go) | head -n 80",
      list: "go list -f '{{.ImportPath}} {{.Name}} {{len .GoFiles}} {{.Imports}}' std | head -n 200",
      packages: "go list std",
      json: "go list -json ./windows net/http 2>&1 | head -n 250",
    },
    { in: "gomod", needs: ["go"] },
  ),
  heldOut(
    "gem",
    {
      lock: "cat /usr/lib/ruby/gems/*/gems/*/Gemfile.lock",
      list: "gem list --local -d",
      contents: "gem contents rake rspec-core 2>&1",
      environment: "gem environment; gem specification rake | head -n 200",
    },
    { needs: ["gem"] },
  ),

  // The network.
  tuning(
    "ss",
    { all: "ss -tan", extended: "ss -tanope", unix: "ss -xa", summary: "ss -s; ss -taonie | head -n 80" },
    { in: "connections" },
  ),
  heldOut(
    "netstat",
    {
      connections: "netstat -tan",
      unix: "netstat -anp | head -n 250",
      statistics: "netstat -s",
      routes: "netstat -rn; netstat -i",
    },
    { in: "connections" },
  ),
  heldOut("ip", {
    addr: "ip addr; ip -s link",
    route: "ip route show table all; ip rule; ip neigh",
    help: "ip help; ip addr help; ip route help; ip link help",
  }),
  tuning(
    "ifconfig",
    { all: "ifconfig -a", proc: "cat /proc/net/dev /proc/net/snmp /proc/net/netstat /proc/net/tcp" },
    { in: "connections" },
  ),
  heldOut("getent", {
    services: "cat /etc/services",
    passwd: "getent passwd; getent group",
    protocols: "getent protocols; getent rpc; getent networks",
    dig: "getent ahosts localhost; cat /etc/hosts /etc/protocols",
  }),
  tuning(
    "curl",
    {
      headers: "curl -sv http://127.0.0.1:8765/ -o /dev/null",
      listing: "curl -s http://127.0.0.1:8765/",
      several: 'for f in large.bin page.html index.json; do echo "== $f"; curl -sI http://127.0.0.1:8765/$f; done',
      timing:
        "for i in 1 2 3 4 5 6 7 8 9 10 11 12; do curl -s -o /dev/null -w '%{http_code} %{size_download} %{time_connect} %{time_starttransfer} %{time_total} %{speed_download}\\n' http://127.0.0.1:8765/large.bin; done",
    },
    { in: "web" },
  ),

  // Compilers.
  tuning(
    "gcc",
    {
      warnings:
        "for f in common/*.c compress/zstd_compress.c; do gcc -Wall -Wextra -Wconversion -Wshadow -I. -c $f -o /dev/null; done 2>&1 | head -n 1200",
      errors: "gcc -std=c11 -c broken.c",
      verbose: "gcc -v -Q --help=warnings 2>&1 | head -n 300",
      fanalyzer: "gcc -fanalyzer -c leaks.c -o /dev/null",
    },
    { in: "c", seconds: 90 },
  ),
  heldOut(
    "clang",
    {
      warnings:
        "clang -Weverything -Wno-unsafe-buffer-usage -ferror-limit=0 -I. -c common/zstd_common.c common/entropy_common.c common/pool.c -Wno-padded 2>&1 | head -n 900",
      errors: "clang -std=c11 -c broken.c",
      ast: "clang -Xclang -ast-dump -fsyntax-only leaks.c | tail -n 250",
      analyze: "clang --analyze leaks.c",
    },
    { in: "c", seconds: 90 },
  ),
  tuning(
    "tsc",
    {
      strict:
        "tsc --noEmit --strict --allowJs --checkJs --skipLibCheck --target es2022 --moduleResolution node --module es2022 src/express/*.js src/mocha/*.js | head -n 500",
      pretty:
        "tsc --noEmit --pretty --strict --allowJs --checkJs --skipLibCheck --target es2022 src/express/application.js",
      errors: "tsc --noEmit --strict --target es2022 orders.ts",
      files: "tsc --listFiles --noEmit --skipLibCheck --target es2022 orders.ts",
      diagnostics: "tsc --extendedDiagnostics --noEmit --target es2022 orders.ts",
    },
    { in: "javascript", tools: "node", seconds: 120 },
  ),
  heldOut(
    "rustc",
    {
      warnings: "cargo clippy --offline -- -W clippy::pedantic 2>&1 | head -n 1200",
      short:
        "touch src/lib.rs; cargo clippy --offline --message-format short -- -W clippy::pedantic -W clippy::restriction 2>&1 | head -n 900",
      errors: "rustc --edition 2021 --crate-type lib broken.rs",
      verbose: "touch src/lib.rs; cargo build --offline -v",
      explain: "for e in E0382 E0499 E0502 E0308; do rustc --explain $e; done",
    },
    { in: "rust", needs: ["cargo"], seconds: 240 },
  ),
  tuning(
    "javac",
    {
      lint: "javac -Xlint:all -d out src/*.java",
      errors: "javac -d out broken/*.java",
      verbose: "javac -verbose -d out src/Ledger.java 2>&1 | head -n 300",
      javap: "javac -d out src/Ledger.java && javap -c -p -v out/Ledger.class",
    },
    { in: "java", needs: ["javac"], seconds: 90 },
  ),

  // Linters.
  heldOut(
    "eslint",
    {
      stylish: "eslint src/express src/mocha | head -n 900",
      compact: "eslint -f compact src/express | head -n 500",
      unix: "eslint -f unix src/express | head -n 400",
      json: "eslint -f json src/express/utils.js",
    },
    { in: "javascript", tools: "node", seconds: 90 },
  ),
  tuning(
    "oxlint",
    {
      plain: "oxlint -W all src/express | head -n 700",
      unix: "oxlint -W all -f unix src/mocha | head -n 500",
      rules: "oxlint --rules | head -n 300",
      github: "oxlint -W all -f github src/express/utils.js src/express/view.js",
    },
    { in: "javascript", tools: "node", seconds: 60 },
  ),
  heldOut(
    "ruff",
    {
      full: "ruff check --select ALL src/flask | head -n 700",
      concise: "ruff check --select ALL --output-format concise src/click",
      grouped: "ruff check --select ALL --output-format grouped src/jinja2 | head -n 500",
      statistics: "ruff check --select ALL --statistics src",
      diff: "ruff format --diff src/pyflakes src/requests | head -n 300",
    },
    { in: "python", tools: "python" },
  ),
  tuning(
    "mypy",
    {
      strict: "mypy --strict --ignore-missing-imports src/pyflakes src/requests",
      pretty: "mypy --strict --pretty --ignore-missing-imports src/requests",
      untyped: "mypy --disallow-any-expr --ignore-missing-imports src/click | head -n 500",
    },
    { in: "python", tools: "python", seconds: 180 },
  ),
  heldOut(
    "flake8",
    {
      plain: "flake8 src/requests src/jinja2 | head -n 500",
      statistics: "flake8 --statistics --count -q src",
      pylint: "pylint src/requests | head -n 400",
    },
    { in: "python", tools: "python", seconds: 120 },
  ),
  tuning(
    "shellcheck",
    {
      tty: "shellcheck *.sh | head -n 500",
      gcc: "shellcheck -f gcc *.sh",
      all: "shellcheck -o all -f gcc *.sh | head -n 500",
    },
    { in: "shell" },
  ),

  // Tests.
  tuning(
    "pytest",
    {
      verbose: "pytest -v",
      quiet: "pytest -q",
      failures: "pytest --tb=long -q --maxfail=5",
      short: "pytest --tb=short -rA",
      durations: "pytest --durations=15 -q --tb=no",
      collect: "pytest --collect-only -q",
    },
    { in: "pytests", tools: "python" },
  ),
  heldOut(
    "unittest",
    { verbose: "python3 -m unittest -v", quiet: "python3 -m unittest", stdlib: "python3 -m doctest -v durations.py" },
    { in: "unittests", needs: ["python3"] },
  ),
  tuning(
    "node-test",
    {
      spec: "node --test --test-reporter spec",
      tap: "node --test --test-reporter tap",
      coverage: "node --test --experimental-test-coverage",
    },
    { in: "nodetests" },
  ),
  heldOut(
    "vitest",
    {
      run: "vitest run",
      verbose: "vitest run --reporter verbose",
      tap: "vitest run --reporter tap-flat",
      dot: "vitest run --reporter dot",
    },
    { in: "vitests", tools: "node", seconds: 90 },
  ),
  tuning(
    "jest",
    { verbose: "jest --verbose", plain: "jest", coverage: "jest --coverage" },
    { in: "jests", tools: "node", seconds: 90 },
  ),
  heldOut(
    "mocha",
    {
      spec: "mocha test/*.test.js",
      dot: "mocha --reporter dot test/*.test.js",
      tap: "mocha --reporter tap test/*.test.js",
      list: "mocha --reporter list --full-trace test/*.test.js",
    },
    { in: "mochas", tools: "node" },
  ),
  heldOut(
    "cargo-test",
    {
      library: "cargo test --offline --lib",
      failing: "cargo test --offline --test windows",
      list: "cargo test --offline --lib -- --list",
      quiet: "cargo test --offline -q",
    },
    { in: "rust", needs: ["cargo"], seconds: 300 },
  ),
  tuning(
    "go-test",
    {
      verbose: "go test -v strings sort | head -n 700",
      failing: "cd windows && go test -vet=off -v ./...",
      short:
        "go test -short -cover strconv strings sort bytes bufio text/... unicode/... container/... path/... html/... encoding/...",
      bench: "go test -run XXX -bench 'Index|Split' -benchtime 2ms -benchmem strings",
      vet: "cd windows; go vet ./...; go build -gcflags=-m=2 ./...; go vet -json ./...",
    },
    { in: "gomod", needs: ["go"], seconds: 240 },
  ),
  heldOut(
    "rspec",
    { documentation: "rspec --format documentation", progress: "rspec" },
    { in: "rspecs", needs: ["rspec"] },
  ),

  // Git.
  tuning(
    "git-log",
    {
      full: "git log -n 60",
      stat: "git log --stat -n 40",
      oneline: "git log --oneline -n 250",
      format: "git log -n 150 --pretty=format:'%h|%an|%ad|%s' --date=iso",
      names: "git log --name-status -n 40",
      numbers: "git log --numstat --format=%h -n 60",
      fuller: "git log --pretty=fuller -n 30",
      shortstat: "git log --shortstat --oneline -n 80",
    },
    { in: "repository" },
  ),
  heldOut(
    "git-blame",
    {
      code: "git blame src/config.rs",
      porcelain: "git blame --line-porcelain -L 1,60 src/error.rs",
      notes: "git blame -s ARCHITECTURE.md",
      dates: "git blame --date=short README.md",
    },
    { in: "repository" },
  ),
  tuning(
    "git-status",
    {
      long: "git status",
      short: "git status -s",
      porcelain: "git status --porcelain=v2 --branch",
      diffstat: "git diff --stat HEAD~30",
      numstat: "git diff --numstat HEAD~40",
      names: "git diff --name-status HEAD~60",
      dirstat: "git diff --dirstat=files,0 HEAD~60; git diff --summary HEAD~90",
    },
    { in: "repository" },
  ),
  heldOut(
    "git-refs",
    {
      branches: "git branch -vv",
      all: "git branch -a -v",
      reflog: "git reflog",
      shortlog: "git shortlog HEAD~80..",
      refs: "git for-each-ref --format='%(refname:short) %(objectname:short) %(committerdate:iso) %(subject)'",
      stash: "git show-ref; git count-objects -v",
    },
    { in: "repository" },
  ),
  tuning(
    "git-files",
    {
      staged: "git ls-files -s",
      tree: "git ls-tree -r -l HEAD src",
      names: "git ls-files",
      objects: "git cat-file --batch-check --batch-all-objects | head -n 300",
    },
    { in: "repository" },
  ),
  heldOut(
    "git-grep",
    {
      numbers: "git grep -n 'pub fn' src",
      counts: "git grep -c 'fn ' src",
      functions: "git grep -p -n 'unwrap_or' src | head -n 200",
    },
    { in: "repository" },
  ),

  // Binaries and dumps.
  tuning("objdump", {
    disassembly: "objdump -d -j .text /usr/bin/true | head -n 500",
    headers: "objdump -x /usr/bin/git | head -n 250",
    symbols: "objdump -T /usr/bin/git | head -n 250",
    full: "objdump -s -j .rodata /usr/bin/true | head -n 200",
  }),
  heldOut("readelf", {
    all: "readelf -aW /usr/bin/true",
    symbols: "readelf -sW --dyn-syms /usr/bin/git | head -n 300",
    segments: "readelf -lSW /usr/bin/python3*",
    relocations: "readelf -rW /usr/bin/bash | head -n 300",
  }),
  tuning("nm", {
    dynamic: "nm -D /usr/lib/x86_64-linux-gnu/libz.so.1",
    size: "size /usr/bin/* 2>/dev/null | head -n 300",
    archive: "nm -A --defined-only $(gcc -print-file-name=libgcc.a) | head -n 300",
  }),
  heldOut("strings", {
    git: "strings -n 8 /usr/bin/git | head -n 700",
    offsets: "strings -t x /usr/bin/true",
    ldd: "ldd /usr/bin/git /usr/bin/curl /usr/bin/python3 /usr/bin/gdb",
  }),
  tuning("xxd", {
    plain: "xxd /usr/bin/true | head -n 300",
    bits: "xxd -b -c 6 /etc/hostname; xxd -b -l 600 /usr/bin/true",
    list: "xxd -i -l 2400 /usr/bin/true",
    text: "xxd /etc/services | head -n 150",
  }),
  heldOut("hexdump", {
    canonical: "hexdump -C /usr/bin/true | head -n 300",
    words: "hexdump /usr/bin/true | head -n 200",
    od: "od -A d -t x1z /usr/bin/true | head -n 200",
    octal: "od -c /etc/services | head -n 150",
  }),
  tuning(
    "sha256sum",
    {
      files: "sha256sum /usr/bin/[a-m]*",
      check: "sha256sum /etc/*.conf > sums; echo changed >> note; sha256sum -c sums",
      sha1: "find src -type f -exec sha1sum {} +",
    },
    { in: "javascript" },
  ),
  heldOut("md5sum", {
    files: "md5sum /usr/share/perl5/*.pm /usr/share/perl5/*/*.pm",
    cksum: "cksum /usr/bin/[n-z]*",
    debian: "cat /var/lib/dpkg/info/git.md5sums",
  }),
  tuning(
    "wc",
    {
      lines: "find src -name '*.js' | xargs wc -l",
      all: "wc /usr/share/perl5/*.pm /usr/share/perl5/*/*.pm",
      columns: "awk '{n[length($0)]++} END {for (k in n) print k, n[k]}' src/express/*.js | sort -n",
    },
    { in: "javascript" },
  ),
  heldOut(
    "file",
    {
      binaries: "file /usr/bin/* | head -n 250",
      libraries: "file -b /usr/lib/x86_64-linux-gnu/*.so.* | sort | uniq -c | sort -rn",
      mime: "file -i src/*/*",
    },
    { in: "javascript" },
  ),

  // Builds.
  tuning(
    "make",
    {
      build: "make clean all",
      parallel: "make clean; make -j4 V=1",
      database: "make -pn | head -n 400",
      dry: "make -n -B",
    },
    { in: "c", seconds: 120 },
  ),
  heldOut(
    "cmake",
    {
      configure: "rm -rf b1; cmake -S . -B b1",
      build: "rm -rf b2; cmake -S . -B b2 >/dev/null; cmake --build b2",
      variables: "cmake -S . -B b3 -LAH",
      trace: "rm -rf b4; cmake --trace-expand -S . -B b4 2>&1 | head -n 400",
    },
    { in: "c", seconds: 120 },
  ),
  tuning(
    "ninja",
    {
      verbose: "rm -rf n1; cmake -G Ninja -S . -B n1 >/dev/null; ninja -C n1 -v",
      explain: "cmake -G Ninja -S . -B n2 >/dev/null; ninja -C n2 -d explain -n | head -n 300",
      targets: "cmake -G Ninja -S . -B n3 >/dev/null; ninja -C n3 -t targets all; ninja -C n3 -t deps",
    },
    { in: "c", needs: ["ninja", "cmake"], seconds: 120 },
  ),

  // Texts to read.
  tuning(
    "man",
    { tar: "man tar | head -n 500", grep: "man grep", ssh: "man rsync | head -n 500", bash: "man dash" },
    { needs: ["man"] },
  ),
  heldOut(
    "help",
    {
      git: "git --help; git commit -h 2>&1; git log -h 2>&1; git rebase -h 2>&1",
      gcc: "gcc --help; ld --help",
      curl: "curl --help all",
      node: "node --help",
      python: "python3 --help-all",
      tar: "tar --help",
      cargo: "cargo --help; cargo build --help",
      rsync: "rsync --help",
      find: "find --help; sort --help; ls --help",
    },
    { needs: ["git", "rsync"] },
  ),
  tuning(
    "doc",
    {
      changelog: "zcat /usr/share/doc/bash/changelog.Debian.gz | head -n 300",
      licence: "cat /usr/share/common-licenses/Apache-2.0",
      copyright: "cat /usr/share/doc/git/copyright | head -n 300",
    },
    { needs: ["zcat"] },
  ),
  heldOut(
    "readme",
    {
      express: "cat node_modules/express/Readme.md",
      eslint: "cat node_modules/eslint/README.md",
      pydoc: "python3 -m pydoc argparse | head -n 500",
      perldoc: "cat node_modules/debug/README.md node_modules/ms/readme.md",
    },
    { in: "packages", needs: ["python3"] },
  ),

  // Colours and progress bars.
  tuning(
    "colour",
    {
      ls: "ls -la --color=always /etc /usr/bin | head -n 300",
      grep: "grep -rn --color=always 'function' src/express | head -n 200",
      diff: "diff --color=always -u src/express/utils.js src/express/view.js",
      git: "git -C ../repository log --color=always --graph --oneline --decorate -n 150",
    },
    { in: "javascript", with: ["repository"] },
  ),
  heldOut(
    "colour-tools",
    {
      "git-graph": "git log --color=always --graph --stat -n 30",
      "git-diff": "git diff --color=always HEAD~3 | head -n 400",
      "git-words": "git diff --color=always --word-diff=color HEAD~2 -- README.md src | head -n 200",
      rg: "rg --color always --heading -n 'pub struct' src",
      gcc: "gcc -fdiagnostics-color=always -Wall -Wextra -c ../c/broken.c",
    },
    { in: "repository", with: ["c"], needs: ["rg"] },
  ),
  tuning(
    "progress",
    {
      pip: "pip install --no-cache-dir --target fresh1 flask rich sqlalchemy",
      curl: "curl --limit-rate 3M -O http://127.0.0.1:8765/large.bin",
      dd: "dd if=/dev/zero of=/dev/null bs=16k count=6000000 status=progress",
      npm: "rm -rf fresh2; npm install --loglevel http --prefix fresh2 --no-audit --no-fund mocha express",
    },
    { in: "web", tools: "both", terminal: true, seconds: 180 },
  ),
  heldOut(
    "progress-tools",
    {
      wget: "wget --progress=bar:force --limit-rate=3m -O got1 http://127.0.0.1:8765/large.bin",
      "wget-dots": "wget --limit-rate=6m -O got2 http://127.0.0.1:8765/large.bin 2>&1 | cat",
      rsync: "rm -rf copied; rsync -a --info=progress2,name src/ copied/",
      clone: "rm -rf cloned; git clone --progress --no-local ../repository cloned",
      vitest: "cd ../vitests && vitest run",
      cargo: "cd ../rust && touch src/lib.rs && cargo build --offline",
    },
    { in: "web", with: ["repository", "vitests", "rust"], tools: "node", terminal: true, seconds: 120 },
  ),

  // Several results in one output.
  tuning(
    "sections",
    {
      loop: 'for f in hostname os-release passwd hosts nsswitch.conf login.defs shells; do echo "=== $f ==="; cat /etc/$f; done',
      host: "echo '=== uptime ==='; uptime; echo '=== memory ==='; free -m; echo '=== disk ==='; df -h; echo '=== processes ==='; ps aux --sort=-%cpu | head -n 15; echo '=== network ==='; ip -br addr; ss -s",
      polls:
        "for i in $(seq 1 15); do date '+--- %T.%N ---'; cat /proc/loadavg; grep -E '^(MemFree|Dirty|Cached|Active)' /proc/meminfo; sleep 0.2; done",
      versions:
        "for t in bash git gcc make node npm python3 perl openssl curl tar gzip sed awk java cargo go; do printf '%-10s ' $t; ($t --version 2>&1 || true) | head -n 1; done",
      code: "for f in src/express/*.js; do echo \"### $f\"; sed -n '1,40p' $f; done",
    },
    { in: "javascript" },
  ),
  heldOut(
    "head-tail",
    {
      head: "head -n 20 src/express/*.js src/mocha/*.js | head -n 600",
      tail: "tail -n 15 /etc/*.conf",
      numbered: "cat -n src/express/utils.js src/express/view.js",
      nl: "nl -ba src/mocha/runner.js | head -n 400",
      paste: "for d in src/*; do echo; echo \"-- $d\"; ls -l $d | tail -n +2 | awk '{print $5, $9}'; done",
      cut: "cut -d: -f1,3,7 /etc/passwd | column -t -s:; join <(sort /etc/passwd) <(sort /etc/group) | head; pr -m -t /etc/shells /etc/hosts",
    },
    { in: "javascript" },
  ),
  tuning(
    "text-tools",
    {
      uniq: "cat src/*/*.js | tr -cs 'A-Za-z' '\\n' | sort | uniq -c | sort -rn | head -n 300",
      comm: "comm <(ls /usr/share/doc) <(ls /usr/share/lintian/overrides /usr/share/man/man1 | sort) | head -n 300",
      sequence: "seq -f 'item-%04g' 1 300 | xargs -n 6",
      column: "column -t -s: /etc/passwd",
      calendar: "for i in $(seq 1 120); do date -d \"2026-01-01 +$i days\" '+%F %a week %V'; done",
    },
    { in: "javascript", needs: ["column"] },
  ),
  tuning(
    "grep",
    {
      numbers: "grep -rn 'require(' src",
      counts: "grep -rc 'function' src /usr/share/perl5 | head -n 300",
      context: "grep -n -B2 -A4 'throw new' src/express/*.js | head -n 300",
      passwd: "grep -rIl 'Copyright' /usr/share/perl5 | head -n 200",
    },
    { in: "javascript" },
  ),
  heldOut(
    "rg",
    {
      plain: "rg -n --no-heading 'return' src/express",
      heading: "rg --heading -n 'function \\w+' src",
      json: "rg --json 'TypeError' src | head -n 120",
      stats: "rg --stats -c 'const' src",
    },
    { in: "javascript" },
  ),

  // Keys, databases, traces, archives.
  tuning(
    "openssl",
    {
      certificate: "openssl x509 -in certificate.pem -noout -text",
      ciphers: "openssl ciphers -v 'ALL'",
      bundle:
        "awk '/BEGIN/{n++} n<=25' /etc/ssl/certs/ca-certificates.crt | openssl crl2pkcs7 -nocrl -certfile /dev/stdin | openssl pkcs7 -print_certs -noout",
      asn1: "openssl asn1parse -in certificate.pem",
      list: "openssl list -cipher-algorithms -digest-algorithms",
    },
    { in: "keys" },
  ),
  heldOut("gpg", {
    keyring:
      "gpg --no-default-keyring --keyring /usr/share/keyrings/debian-archive-keyring.gpg --list-keys --with-subkey-fingerprint",
    packets: "gpg --list-packets /usr/share/keyrings/debian-archive-bookworm-stable.gpg",
    colons:
      "gpg --no-default-keyring --keyring /usr/share/keyrings/debian-archive-keyring.gpg --list-keys --with-colons",
  }),
  tuning(
    "sqlite-dump",
    {
      dump: "sqlite3 shop.db .dump",
      schema: "sqlite3 shop.db .schema .tables",
      list: "sqlite3 shop.db 'select * from orders limit 200'",
    },
    { in: "database", needs: ["sqlite3"] },
  ),
  heldOut(
    "sqlite-modes",
    {
      column: "sqlite3 -header -column shop.db 'select * from orders limit 150'",
      box: "sqlite3 -box shop.db 'select * from customers limit 100'",
      line: "sqlite3 -line shop.db 'select * from orders limit 60'",
      explain:
        "sqlite3 shop.db 'explain select c.name, sum(o.total) from customers c join orders o on o.customer = c.id group by 1 order by 2 desc'",
      markdown: "sqlite3 -markdown shop.db 'select * from customers limit 80'",
      table:
        "sqlite3 -table shop.db 'select city, status, count(*) n, avg(total) mean, max(total) most from customers c join orders o on o.customer = c.id group by 1, 2'",
    },
    { in: "database", needs: ["sqlite3"] },
  ),
  tuning(
    "importtime",
    {
      stdlib: "python3 -X importtime -c 'import json, asyncio, http.client, unittest'",
      flask: "python3 -X importtime -c 'import flask'",
      verbose: "python3 -v -c 'import json' 2>&1 | head -n 200",
      profile:
        "python3 -m cProfile -s cumtime -m json.tool /dev/null 2>&1; python3 -m cProfile -s tottime -c 'import asyncio, http.server' | head -n 120",
      dis: "python3 -m dis durations.py",
    },
    { in: "unittests", tools: "python", needs: ["python3"] },
  ),
  heldOut("strace", {
    summary: "strace -c -f ls -lR /usr/share/perl5 2>&1 >/dev/null",
    calls: "strace -f ls /usr 2>&1 | head -n 250",
    times: "strace -tt -T -e trace=file git -C . status 2>&1 | head -n 200",
  }),
  tuning(
    "valgrind",
    {
      leaks: "gcc -g leaks.c -o leaks && valgrind --leak-check=full ./leaks 12",
      cachegrind:
        "gcc -g leaks.c -o leaks && valgrind --tool=cachegrind --cachegrind-out-file=cg.out ./leaks 12 && cg_annotate cg.out",
      gdb: "gcc -g leaks.c -o leaks && gdb -batch -ex 'break main' -ex run -ex 'info registers' -ex 'info sharedlibrary' -ex 'info proc mappings' -ex bt -ex 'disassemble main' ./leaks",
    },
    { in: "c", needs: ["valgrind", "gcc"] },
  ),
  heldOut(
    "tar",
    { verbose: "tar -tvf a.tar.gz", create: "tar -cvf b.tar src", gzip: "gzip -kvl a.tar.gz; gzip -kvf src/*/*.js" },
    { in: "archives" },
  ),
  tuning(
    "zip",
    {
      list: "unzip -l a.zip",
      verbose: "unzip -v a.zip",
      zipinfo: "zipinfo a.zip",
      create: "zip -r c.zip src",
      extract: "unzip -o a.zip -d out",
      jar: "jar tvf $(dirname $(readlink -f $(which javac)))/../lib/jrt-fs.jar",
    },
    { in: "archives" },
  ),
  heldOut(
    "rsync",
    {
      dry: "rsync -avn --stats src/ ../copied/",
      items: "rsync -ai --delete -n src/ other/",
      "list-only": "rsync --list-only -r src",
    },
    { in: "archives" },
  ),
  tuning(
    "diff",
    {
      brief: "diff -rq src other",
      sides: "diff -y -W 160 src/express/utils.js other/express/utils.js",
      normal: "diff -r src other | head -n 400",
    },
    { in: "archives" },
  ),
];
