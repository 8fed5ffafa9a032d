//! Files that would take all memory or time are refused at once, with words that say what to do.

use standoff_mesh::format::{ReadOptions, RobotOptions, parse, read, read_model};
use std::path::Path;
use std::time::Instant;

/// A VTU file of one triangle whose points are compressed: `announced` is what the head of the block says that
/// they become, `zeros` what they really are.
fn compressed(points: u64, cells: u64, announced: u64, zeros: usize) -> Vec<u8> {
    let body = miniz_oxide::deflate::compress_to_vec_zlib(&vec![0; zeros], 6);
    let head = [1, announced, announced, body.len() as u64];
    let mut block: Vec<u8> = head.iter().flat_map(|n| n.to_le_bytes()).collect();
    block.extend(body);
    let array = |name: &str| {
        format!("<DataArray type=\"Float64\" Name=\"{name}\" format=\"appended\" offset=\"0\"/>")
    };
    let mut file = format!(
        "<VTKFile type=\"UnstructuredGrid\" byte_order=\"LittleEndian\" header_type=\"UInt64\" \
         compressor=\"vtkZLibDataCompressor\"><UnstructuredGrid><Piece NumberOfPoints=\"{points}\" \
         NumberOfCells=\"{cells}\"><Points>{}</Points><Cells>{}{}{}</Cells></Piece></UnstructuredGrid>\
         <AppendedData encoding=\"raw\">_",
        array("Points"),
        array("connectivity"),
        array("offsets"),
        array("types")
    )
    .into_bytes();
    file.extend(block);
    file
}

#[test]
fn compressed_data_become_no_more_than_the_file_announces() {
    // 200 MB in 200 kB
    let zeros = 200_000_000;
    for (points, announced) in [(1, zeros as u64), (1, 24), (u64::MAX, zeros as u64 * 1000)] {
        let file = compressed(points, 1, announced, zeros);
        assert!(file.len() < 1_000_000);
        let begin = Instant::now();
        let error = parse(Path::new("bomb.vtu"), &file, &ReadOptions::default()).unwrap_err();
        let message = error.to_string();
        assert!(message.contains("Points") && message.contains("byte"), "{message}");
        // compressing alone takes longer
        assert!(begin.elapsed().as_secs() < 5);
    }
    // what is announced is read
    let file = compressed(0, 0, 24, 24);
    assert!(parse(Path::new("a.vtu"), &file, &ReadOptions::default()).is_err());
}

#[test]
fn copies_without_end_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("many.xml");
    let model = "<mujoco><worldbody><replicate count=\"1000000000\" offset=\"1 0 0\"><geom size=\"0.1\"/>\
                 </replicate></worldbody></mujoco>";
    std::fs::write(&file, model).unwrap();
    let begin = Instant::now();
    for message in [
        read(&file).unwrap_err().to_string(),
        read_model(&file, &RobotOptions::default()).unwrap_err().to_string(),
    ] {
        assert!(message.contains("at most 1000000"), "{message}");
    }
    assert!(begin.elapsed().as_secs() < 5, "{:?}", begin.elapsed());
}

/// Counts that no file can hold, and cards and lines without end, take neither memory nor time beyond the file.
#[test]
fn counts_and_cards_without_end_are_refused() {
    let begin = Instant::now();
    let refused = |name: &str, content: &[u8], part: &str| {
        let error = parse(Path::new(name), content, &ReadOptions::default()).unwrap_err();
        assert!(error.to_string().contains(part), "{error}");
    };
    for count in ["4000000000", "18446744073709551615", "-1"] {
        let head = "MeshVersionFormatted 2\nDimension 3\n";
        for section in ["Vertices", "TetrahedraP2", "NormalAtQuadrilateralVertices", "Normals"] {
            let part = if count == "-1" { "\"-1\"" } else { "announced" };
            refused("a.mesh", format!("{head}{section}\n{count}\n0 0 0 0\n").as_bytes(), part);
        }
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a.ele");
        for (node, ele) in
            [("1 3 0 0\n1 0 0 0\n", count), (&format!("{count} 3 0 0\n1 0 0 0\n"), "1")]
        {
            std::fs::write(folder.path().join("a.node"), node).unwrap();
            std::fs::write(&file, format!("{ele} 4 0\n1 1 1 1 1\n")).unwrap();
            let message = read(&file).unwrap_err().to_string();
            assert!(message.contains("announced") || message.contains("\"-1\""), "{message}");
        }
    }
    // a card of countless lines, a line of nothing but fields, and names of cards that are all different
    let endless = format!("GRID,1\nCTETRA,1,1,1,1,1,1\n{}", ",\n".repeat(5_000_000));
    refused("a.bdf", endless.as_bytes(), "CTETRA 1: a tetrahedron has no extent");
    refused("a.bdf", format!("GRID,1{}x\n", ",".repeat(20_000_000)).as_bytes(), "ten fields");
    let names: String = (0..1_000_000).map(|k| format!("A{k}\n")).collect();
    let mesh =
        parse(Path::new("a.nas"), format!("GRID,1\n{names}").as_bytes(), &ReadOptions::default())
            .unwrap();
    assert!(mesh.notes[0].len() < 500, "{:?}", mesh.notes);
    assert!(begin.elapsed().as_secs() < 20, "{:?}", begin.elapsed());
}
