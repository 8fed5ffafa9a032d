//! The server from outside, by bytes on a connection: what it refuses, and that what it serves is the run.

use serde_json::Value;
use standoff_linalg::Vec3;
use standoff_run::{Frame, FrameFile, Gaps, Options, RunError, RunInfo, read_frame};
use standoff_scene::Scene;
use standoff_view::{Listen, Viewer};
use std::fs;
use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::ops::ControlFlow;
use std::path::Path;
use std::time::{Duration, Instant};

/// Every kind of cell, in contact with the ground or each other soon.
const SCENE: &str = r#"
ground = 0.0
time = { step = 0.01, end = 0.05 }
output = { every = 2 }
contact = { d_hat = 0.01 }
[materials.felt.shell]
thickness = "5 mm"
[[objects]]
name = "ball"
shape = { kind = "sphere", radius = 0.1, layers = 2 }
translate = [0, 0.105, 0]
velocity = [0, -1, 0]
[[objects]]
name = "cloth"
role = "shell"
shape = { kind = "plane", size = [0.4, 0.4], cells = [3, 3] }
material = "felt"
translate = [0, 0.3, 0]
[[objects]]
name = "rod"
role = "rod"
radius = 0.01
shape = { kind = "polyline", segments = 5 }
translate = [0, 1, 0]
[[objects]]
name = "grains"
role = "particles"
radius = 0.02
shape = { kind = "points", count = [2, 1, 1] }
translate = [0, 2, 0]
[[objects]]
name = "table"
role = "obstacle"
shape = { kind = "plane", size = [1, 1] }
translate = [3, 0.5, 0]
"#;

/// A ram that squeezes a block against an anvil until it is blocked.
const BLOCKED: &str = r#"
time = { step = 0.02, end = 1 }
contact = { d_hat = 0.01 }
[[objects]]
name = "work"
shape = { kind = "box", size = [0.3, 0.3, 0.3] }
[[objects]]
name = "anvil"
role = "obstacle"
shape = { kind = "box", size = [1, 0.1, 1] }
translate = [0, -0.21, 0]
[[objects]]
name = "ram"
role = "obstacle"
shape = { kind = "box", size = [1, 0.1, 1] }
translate = [0, 0.22, 0]
[[objects.motion]]
velocity = [0, -1, 0]
"#;

fn simulate(text: &str, folder: &Path) -> Result<(), RunError> {
    let scene = Scene::parse(text, Path::new("scene.toml"), Path::new(""), &[]).unwrap();
    let go_on = &mut |_: &standoff_run::Event<'_>| ControlFlow::Continue(());
    standoff_run::run(&scene, folder, Options::default(), go_on).map(|_| ())
}

fn start(folder: &Path) -> Viewer {
    Viewer::start(folder, &Listen::parse(":0").unwrap()).unwrap()
}

struct Answer {
    status: u16,
    head: String,
    body: Vec<u8>,
}

impl Answer {
    fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    fn json(&self) -> Value {
        assert_eq!(self.status, 200, "{}", self.text());
        serde_json::from_slice(&self.body).unwrap()
    }
}

/// Sends bytes and reads until the server closes; `None` if it closes without an answer.
fn send(address: SocketAddr, bytes: &[u8]) -> Option<Answer> {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    // it may have seen enough before the end
    let _ = stream.write_all(bytes);
    let _ = stream.shutdown(Shutdown::Write);
    let mut all = Vec::new();
    let _ = stream.read_to_end(&mut all);
    let end = all.windows(4).position(|w| w == b"\r\n\r\n")?;
    let head = String::from_utf8(all[..end].to_vec()).unwrap();
    let status = head.split(' ').nth(1)?.parse().ok()?;
    Some(Answer { status, head, body: all[end + 4..].to_vec() })
}

fn get(viewer: &Viewer, path: &str) -> Answer {
    let request = format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    send(viewer.address(), request.as_bytes()).expect("an answer")
}

/// The arrays of a container: numbers as they are stored.
struct Container {
    head: Value,
    data: Vec<u8>,
}

impl Container {
    fn of(answer: &Answer) -> Self {
        assert_eq!(answer.status, 200, "{}", answer.text());
        let (length, rest) = answer.body.split_at(4);
        let (head, data) = rest.split_at(u32::from_le_bytes(length.try_into().unwrap()) as usize);
        Self { head: serde_json::from_slice(head).unwrap(), data: data.to_vec() }
    }

    fn words(&self, name: &str, kind: &str) -> Option<Vec<[u8; 4]>> {
        let arrays = self.head["arrays"].as_array().unwrap();
        let array = arrays.iter().find(|a| a["name"] == name)?;
        assert_eq!(array["type"], kind);
        let word = |key: &str| array[key].as_u64().unwrap() as usize;
        let bytes = &self.data[word("offset")..][..4 * word("length")];
        Some(bytes.as_chunks::<4>().0.to_vec())
    }

    fn indices(&self, name: &str) -> Vec<u32> {
        self.words(name, "u32").unwrap().into_iter().map(u32::from_le_bytes).collect()
    }

    fn floats(&self, name: &str) -> Vec<f32> {
        self.words(name, "f32").unwrap().into_iter().map(f32::from_le_bytes).collect()
    }
}

fn rounded(vectors: &[Vec3], vertices: &[u32]) -> Vec<f32> {
    let components = vertices.iter().flat_map(|v| <[f64; 3]>::from(vectors[*v as usize]));
    components.map(|c| c as f32).collect()
}

/// Cells of a frame in their order, as lists of vertices.
fn cells(frame: &Frame) -> Vec<Vec<u32>> {
    let tets = frame.tets.iter().map(|c| c.to_vec());
    let triangles = frame.triangles.iter().map(|c| c.to_vec());
    let edges = frame.edges.iter().map(|c| c.to_vec());
    tets.chain(triangles).chain(edges).chain(frame.points.iter().map(|p| vec![*p])).collect()
}

#[test]
fn what_is_served_is_the_run() {
    let folder = tempfile::tempdir().unwrap();
    simulate(SCENE, folder.path()).unwrap();
    let viewer = start(folder.path());
    let run = get(&viewer, "/api/run").json();
    assert_eq!(run["frames"], serde_json::json!([0, 2, 4, 5]));
    assert_eq!(run["live"], false);
    assert_eq!(run["failed"], false);
    assert_eq!(run["bodies"][1]["name"], "cloth");
    assert_eq!(run["half_spaces"][0]["name"], "ground");
    assert_eq!(run["dimension"], 3);
    assert_eq!(run["gap_reach"], 0.01);
    let names: Vec<&str> =
        run["arrays"].as_array().unwrap().iter().map(|a| a["name"].as_str().unwrap()).collect();
    for name in ["velocity", "contact_force", "von_mises", "stretch", "gap"] {
        assert!(names.contains(&name), "{names:?}");
    }

    let generation = run["generation"].as_str().unwrap();
    let mesh = Container::of(&get(&viewer, &format!("/api/mesh?generation={generation}")));
    let (vertices, visible) = (mesh.indices("vertex"), mesh.indices("cell"));
    let first = read_frame(&folder.path().join("frames/000000.vtu")).unwrap();
    let all = cells(&first);
    // every cell that is served lies in the cell that it belongs to, and all but tetrahedra are there
    let mut served: Vec<Vec<u32>> = Vec::new();
    for (name, corners) in [("triangle", 3), ("edge", 2), ("point", 1)] {
        served.extend(mesh.indices(name).chunks(corners).map(<[u32]>::to_vec));
    }
    assert_eq!(served.len(), visible.len());
    for (cell, owner) in served.iter().zip(&visible) {
        let owner = &all[*owner as usize];
        assert!(cell.iter().all(|v| owner.contains(&vertices[*v as usize])), "{cell:?} {owner:?}");
    }
    let boundary = mesh.head["about"]["boundary"].as_u64().unwrap() as usize;
    assert_eq!(
        visible[boundary..],
        (first.tets.len() as u32..all.len() as u32).collect::<Vec<_>>()
    );
    let bodies: Vec<u32> = visible.iter().map(|c| first.cell_body[*c as usize]).collect();
    assert_eq!(mesh.indices("body"), bodies);
    assert!(mesh.floats("radius").contains(&0.02) && mesh.floats("thickness").contains(&0.04));

    let info = RunInfo::read(folder.path()).unwrap();
    let lines = fs::read_to_string(folder.path().join("stats.jsonl")).unwrap();
    let reports: Vec<Value> = lines.lines().map(|l| serde_json::from_str(l).unwrap()).collect();
    for step in [0, 2, 4, 5] {
        let path = format!("/api/frame/{step}?generation={generation}&arrays={}", names.join(","));
        let served = Container::of(&get(&viewer, &path));
        let file = folder.path().join(format!("frames/{step:06}.vtu"));
        let frame = read_frame(&file).unwrap();
        assert_eq!(served.head["about"]["time"], frame.time);
        assert_eq!(served.floats("positions"), rounded(&frame.positions, &vertices));
        assert_eq!(served.floats("velocity"), rounded(&frame.velocity, &vertices));
        assert_eq!(served.floats("contact_force"), rounded(&frame.contact_force, &vertices));
        let mut file = FrameFile::open(&file).unwrap();
        for name in ["von_mises", "stretch", "bending_energy"] {
            let values = file.floats(name).unwrap().unwrap();
            let own: Vec<f32> = visible.iter().map(|c| values[*c as usize] as f32).collect();
            assert_eq!(served.floats(name), own, "{name} in frame {step}");
        }
        let gaps = Gaps::new(&info, &frame).unwrap().of(&frame.positions);
        // the smallest one is that of the step's report
        if let Some(report) = reports.iter().find(|r| r["step"] == step) {
            let least = gaps.iter().copied().fold(f64::NAN, f64::min);
            match report["min_gap"].as_f64() {
                None => assert!(least.is_nan(), "{least}"),
                Some(gap) => assert!((least - gap).abs() <= 1e-12, "{least} {gap}"),
            }
        }
        let own: Vec<f32> = vertices.iter().map(|v| gaps[*v as usize] as f32).collect();
        let bits = |values: &[f32]| values.iter().map(|v| v.to_bits()).collect::<Vec<_>>();
        assert_eq!(bits(&served.floats("gap")), bits(&own));
    }
    // the ball came down
    let frame =
        get(&viewer, &format!("/api/frame/5?generation={generation}&arrays=gap,contact_force"));
    let frame = Container::of(&frame);
    assert!(frame.floats("gap").iter().any(|g| *g < 0.01));
    assert!(frame.floats("contact_force").iter().any(|f| *f > 0.0));
    assert!(frame.words("velocity", "f32").is_none(), "it was not asked for");

    let stats = fs::read(folder.path().join("stats.jsonl")).unwrap();
    assert_eq!(get(&viewer, "/api/stats").body, stats);
    let line = stats.iter().position(|b| *b == b'\n').unwrap() + 1;
    assert_eq!(get(&viewer, &format!("/api/stats?from={line}")).body, stats[line..]);
    assert_eq!(get(&viewer, &format!("/api/stats?from={}", stats.len())).body, b"");
    assert_eq!(get(&viewer, &format!("/api/stats?from={}", stats.len() + 1)).status, 416);
    assert_eq!(get(&viewer, "/api/failure").status, 404);
}

#[test]
fn a_folder_changes_under_the_viewer() {
    let folder = tempfile::tempdir().unwrap();
    let run = folder.path().join("run");
    let viewer = start(&run);
    let answer = get(&viewer, "/api/run");
    assert_eq!(answer.status, 404);
    assert!(answer.text().contains("holds no run"), "{}", answer.text());
    simulate(SCENE, &run).unwrap();
    let first = get(&viewer, "/api/run").json()["generation"].as_str().unwrap().to_owned();
    assert_eq!(get(&viewer, &format!("/api/mesh?generation={first}")).status, 200);

    // while a process writes, and no longer
    let stats = fs::File::open(run.join("stats.jsonl")).unwrap();
    stats.lock().unwrap();
    assert_eq!(get(&viewer, "/api/run").json()["live"], true);
    stats.unlock().unwrap();
    assert_eq!(get(&viewer, "/api/run").json()["live"], false);

    // another run takes its place
    let scene = Scene::parse(BLOCKED, Path::new("scene.toml"), Path::new(""), &[]).unwrap();
    let end = &mut |_: &standoff_run::Event<'_>| ControlFlow::Break(());
    standoff_run::run(&scene, &run, Options { force: true }, end).unwrap();
    let now = get(&viewer, "/api/run").json();
    assert_ne!(now["generation"], first.as_str());
    assert_eq!(now["frames"], serde_json::json!([0]));
    assert_eq!(now["bodies"][0]["name"], "work");
    for path in ["mesh", "frame/0"] {
        assert_eq!(get(&viewer, &format!("/api/{path}?generation={first}")).status, 409);
        assert_eq!(get(&viewer, &format!("/api/{path}")).status, 200);
    }

    // a damaged frame is an error of its own
    let frame = run.join("frames/000000.vtu");
    let whole = fs::read(&frame).unwrap();
    fs::write(&frame, &whole[..whole.len() / 2]).unwrap();
    let answer = get(&viewer, "/api/frame/0");
    assert_eq!(answer.status, 500);
    assert!(answer.text().contains("000000.vtu is damaged"), "{}", answer.text());
    fs::remove_file(&frame).unwrap();
    assert_eq!(get(&viewer, "/api/frame/0").status, 404);
    assert_eq!(get(&viewer, "/api/run").status, 404);
}

#[test]
fn the_culprits_of_a_failed_step_have_places() {
    let folder = tempfile::tempdir().unwrap();
    let error = simulate(BLOCKED, folder.path()).unwrap_err().to_string();
    let viewer = start(folder.path());
    assert_eq!(get(&viewer, "/api/run").json()["failed"], true);
    let report = get(&viewer, "/api/failure").json();
    assert_eq!(report["message"], error);
    let culprits = report["culprits"].as_array().unwrap();
    assert!(culprits.len() > 1);
    for culprit in culprits {
        let primitives = culprit["primitives"].as_array().unwrap();
        let bodies = culprit["bodies"].as_array().unwrap();
        assert_eq!(primitives.len(), bodies.len(), "{culprit}");
        for (primitive, body) in primitives.iter().zip(bodies) {
            let index = primitive["body"].as_u64().unwrap() as usize;
            assert_eq!(["work", "anvil", "ram"][index], body.as_str().unwrap());
            let positions = primitive["positions"].as_array().unwrap();
            assert_eq!(positions.len(), primitive["vertices"].as_array().unwrap().len());
            let inside = |c: &Value| c.as_f64().unwrap().abs() < 1.0;
            assert!(positions.iter().all(|p| p.as_array().unwrap().iter().all(inside)));
        }
    }
    // files that do not fit each other
    let json = folder.path().join("failure.json");
    fs::write(&json, r#"{"step":1,"message":"","last_good_step":0,"last_good_time":0,"culprits":[{"what":"","bodies":[],"gap":null,"volume_ratio":null}]}"#).unwrap();
    assert!(get(&viewer, "/api/failure").text().contains("does not fit"));
    fs::write(&json, "{").unwrap();
    assert_eq!(get(&viewer, "/api/failure").status, 500);
}

#[test]
fn no_path_leads_out_of_the_folder() {
    let folder = tempfile::tempdir().unwrap();
    let run = folder.path().join("run");
    simulate(SCENE, &run).unwrap();
    fs::write(folder.path().join("secret.vtu"), "secret").unwrap();
    fs::write(run.join("frames/secret.vtu"), "secret").unwrap();
    let viewer = start(&run);
    for path in [
        "/../secret.vtu",
        "/api/frame/../../secret.vtu",
        "/api/frame/..%2f..%2fsecret",
        "/api/frame/%2e%2e/%2e%2e/secret.vtu",
        "/api/frame/....//....//secret.vtu",
        "/api/frame/secret",
        "/api/frame/secret.vtu",
        "/api/frame//etc/passwd",
        "/api/frame/..\\..\\secret",
        "/api/frame/000002",
        "/api/frame/+2",
        "/api/frame/-2",
        "/api/frame/2.vtu",
        "/api/frame/2/",
        "/api/frame/18446744073709551616",
        "/api/frame/",
        "/frames/000000.vtu",
        "/run.json",
        "/stats.jsonl",
        "//etc/passwd",
        "/%00",
        "/api",
        "/api/run/",
        "/index.html/..",
        "/.gitignore",
    ] {
        let answer = get(&viewer, path);
        assert_eq!(answer.status, 404, "{path}");
        assert!(!answer.text().contains("secret"), "{path}: {}", answer.text());
    }
    assert_eq!(get(&viewer, "/api/frame/3").status, 404);
    assert_eq!(get(&viewer, "/api/frame/2").status, 200);
    // names of arrays are looked up in the frame alone
    for query in [
        "arrays=../../secret",
        "arrays=points,connectivity,body,TimeValue,types",
        "arrays=,,",
        "x=1",
    ] {
        let served = Container::of(&get(&viewer, &format!("/api/frame/2?{query}")));
        assert_eq!(served.head["arrays"].as_array().unwrap().len(), 1, "{query}");
    }
    for query in ["generation=x", "generation=-1", "generation="] {
        assert_eq!(get(&viewer, &format!("/api/frame/2?{query}")).status, 400, "{query}");
    }
    let many = vec!["gap"; 33].join(",");
    assert_eq!(get(&viewer, &format!("/api/frame/2?arrays={many}")).status, 400);
    assert_eq!(get(&viewer, "/api/stats?from=x").status, 400);
}

#[test]
fn foreign_names_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    simulate(SCENE, folder.path()).unwrap();
    let viewer = start(folder.path());
    assert!(viewer.address().ip().is_loopback());
    let ask = |lines: &str| {
        let request = format!("GET /api/run HTTP/1.1\r\n{lines}Connection: close\r\n\r\n");
        send(viewer.address(), request.as_bytes()).map_or(0, |a| a.status)
    };
    let port = viewer.address().port();
    for host in [format!("localhost:{port}"), format!("127.0.0.1:{port}"), format!("[::1]:{port}")]
    {
        assert_eq!(ask(&format!("Host: {host}\r\n")), 200, "{host}");
    }
    for host in
        ["evil.example", "evil.example:7327", "localhost.evil.example", "127.0.0.1.evil.example"]
    {
        assert_eq!(ask(&format!("Host: {host}\r\n")), 403, "{host}");
    }
    assert_eq!(ask(""), 400);
    assert_eq!(ask("Host: localhost\r\nHost: evil.example\r\n"), 400);
    let request =
        b"GET http://evil.example/api/run HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    assert_eq!(send(viewer.address(), request).unwrap().status, 403);
    let answer = get(&viewer, "/api/run");
    let head = answer.head.to_ascii_lowercase();
    assert!(!head.contains("access-control-allow-origin"), "{head}");
    for line in [
        "x-content-type-options: nosniff",
        "default-src 'self'",
        "cross-origin-resource-policy: same-origin",
    ] {
        assert!(head.contains(line), "{line} is missing: {head}");
    }
    // a name that it was told to listen on is its own
    let named = Viewer::start(folder.path(), &Listen::parse("localhost:0").unwrap()).unwrap();
    assert!(named.url().starts_with("http://localhost:"));
    assert_eq!(get(&named, "/api/run").status, 200);
}

#[test]
fn malformed_requests_get_an_error_and_do_no_harm() {
    let folder = tempfile::tempdir().unwrap();
    simulate(SCENE, folder.path()).unwrap();
    let viewer = start(folder.path());
    let long = format!("GET /{} HTTP/1.1\r\nHost: localhost\r\n\r\n", "a".repeat(1 << 20));
    let many = format!("GET / HTTP/1.1\r\nHost: localhost\r\n{}\r\n", "A: b\r\n".repeat(10_000));
    let noise: Vec<u8> =
        (0..4096u32).map(|k| (k.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    let requests: Vec<&[u8]> = vec![
        b"",
        b"\r\n\r\n",
        b"\0\0\0\0\r\n\r\n",
        b"GET\r\n\r\n",
        b"GET / HTTP/9.9\r\nHost: localhost\r\n\r\n",
        b"GET  / HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"G\xffT / HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"GET /\xff\xfe HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost localhost\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: local\xffhost\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: local\0host\r\n\r\n",
        b"GET / HTTP/1.1\r\n: x\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: nonsense\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: localhost",
        b"POST /api/run HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4\r\nConnection: close\r\n\r\nbody",
        b"DELETE /api/frame/2 HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
        b"OPTIONS * HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
        b"CONNECT localhost:80 HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
        b"BREW / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        long.as_bytes(),
        many.as_bytes(),
        &noise,
    ];
    for request in requests {
        let shown = String::from_utf8_lossy(&request[..request.len().min(60)]).into_owned();
        // no answer at all is right for what is no HTTP
        if let Some(answer) = send(viewer.address(), request) {
            assert!(
                (400..500).contains(&answer.status) || answer.status == 505,
                "{shown:?}: {}",
                answer.head
            );
        }
        assert_eq!(get(&viewer, "/api/run").status, 200, "after {shown:?}");
    }
    let post = b"POST /api/run HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    let answer = send(viewer.address(), post).unwrap();
    assert_eq!(answer.status, 405);
    assert!(answer.head.to_ascii_lowercase().contains("allow: get, head"), "{}", answer.head);
    let head = b"HEAD /api/run HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    let answer = send(viewer.address(), head).unwrap();
    assert_eq!((answer.status, answer.body.len()), (200, 0));
}

/// Connections without a request, with half of one, and of clients that read no answer, many more than there are
/// places: others are answered at once, and so is one that waited a while before it asks again.
#[test]
fn slow_clients_do_not_stop_others() {
    let folder = tempfile::tempdir().unwrap();
    simulate(SCENE, folder.path()).unwrap();
    let viewer = start(folder.path());
    let ask = b"GET /api/run HTTP/1.1\r\nHost: localhost\r\n\r\n";
    for start in [&b""[..], &ask[..20], ask] {
        let open = |_| {
            let mut stream = TcpStream::connect(viewer.address()).unwrap();
            stream.write_all(start).unwrap();
            stream
        };
        let slow: Vec<TcpStream> = (0..200).map(open).collect();
        let before = Instant::now();
        assert_eq!(get(&viewer, "/api/run").status, 200);
        assert!(before.elapsed() < Duration::from_secs(15), "{:?}", before.elapsed());
        drop(slow);
        assert_eq!(get(&viewer, "/api/run").status, 200);
    }
}

/// A folder from elsewhere may hold anything: links, pipes, devices. None of it is read, and no client waits for it.
#[cfg(unix)]
#[test]
fn only_regular_files_of_the_folder_are_served() {
    use std::os::unix::fs::symlink;
    let folder = tempfile::tempdir().unwrap();
    let (run, other) = (folder.path().join("run"), folder.path().join("other"));
    simulate(SCENE, &other).unwrap();
    fs::write(other.join("secret"), "secret\n").unwrap();
    fs::write(
        other.join("failure.json"),
        r#"{"step":1,"message":"secret","last_good_step":0,"last_good_time":0,"culprits":[]}"#,
    )
    .unwrap();
    let pipe = |path: &Path| {
        assert!(std::process::Command::new("mkfifo").arg(path).status().unwrap().success());
    };
    let link = |name: &str, target: &Path| {
        let path = run.join(name);
        if path.is_dir() { fs::remove_dir_all(&path) } else { fs::remove_file(&path) }.ok();
        symlink(target, path).unwrap();
    };
    let viewer = start(&run);
    let fresh = || {
        let _ = fs::remove_dir_all(&run);
        simulate(SCENE, &run).unwrap();
        assert_eq!(get(&viewer, "/api/run").status, 200);
    };
    let refused = |path: &str, status: u16, says: &str| {
        let answer = get(&viewer, path);
        assert_eq!(answer.status, status, "{path}: {}", answer.text());
        let said = answer.text();
        assert!(said.contains(says) && !said.contains("secret"), "{path}: {said}");
    };
    let (zero, outside, special) = (Path::new("/dev/zero"), "out of the folder", "no regular file");
    for target in [&other.join("secret"), zero] {
        fresh();
        link("stats.jsonl", target);
        refused("/api/stats", 403, outside);
        refused("/api/run", 403, outside);
        fresh();
        link("failure.json", target);
        refused("/api/failure", 403, outside);
        fresh();
        link("frames/000002.vtu", target);
        refused("/api/frame/2", 403, outside);
        fresh();
        link("run.json", target);
        refused("/api/run", 403, outside);
    }
    fresh();
    link("failure.json", &other.join("failure.json"));
    refused("/api/failure", 403, outside);
    fresh();
    link("frames", &other.join("frames"));
    refused("/api/frame/2", 403, outside);
    refused("/api/run", 403, outside);
    for name in ["frames/000002.vtu", "stats.jsonl", "failure.json"] {
        fresh();
        let _ = fs::remove_file(run.join(name));
        pipe(&run.join(name));
        let path = match name {
            "stats.jsonl" => "/api/stats",
            "failure.json" => "/api/failure",
            _ => "/api/frame/2",
        };
        refused(path, 500, special);
    }
    // a link within the folder is as good as a file
    fresh();
    link("frames/000002.vtu", &run.join("frames/000004.vtu"));
    assert_eq!(get(&viewer, "/api/frame/2").status, 200);
}

#[test]
fn the_page_is_there_or_says_how_to_build_it() {
    let folder = tempfile::tempdir().unwrap();
    let viewer = start(folder.path());
    let answer = get(&viewer, "/");
    if standoff_view::has_page() {
        assert_eq!(answer.status, 200);
        assert!(answer.text().contains("main.js"), "{}", answer.text());
        for (name, kind) in [
            ("main.js", "text/javascript"),
            ("main.css", "text/css"),
            ("licences.txt", "text/plain"),
        ] {
            let answer = get(&viewer, &format!("/{name}"));
            assert_eq!(answer.status, 200, "{name}");
            assert!(answer.head.contains(kind), "{name}: {}", answer.head);
        }
    } else {
        assert_eq!(answer.status, 501);
        assert!(answer.text().contains("npm ci && npm run build"), "{}", answer.text());
    }
    // the port is taken while it lives, and free afterwards
    let address = viewer.address();
    let again = Listen::parse(&address.to_string()).unwrap();
    assert!(Viewer::start(folder.path(), &again).unwrap_err().to_string().contains("--listen"));
    drop(viewer);
    Viewer::start(folder.path(), &again).unwrap();
}
