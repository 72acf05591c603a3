//! The option text: what is accepted, its canonical form, and each mistake with its byte.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may")]

mod support;

use mage_einsum::diagnostic::{Code, Source};
use mage_einsum::options::{Tile, parse};
use support::{codes, first};

#[test]
fn the_canonical_text() {
    let table = [
        ("", ""),
        (" ", ""),
        ("tile=64", "tile = 64"),
        ("tile = 64,", "tile = 64"),
        ("tile = (64,32 , 16,)", "tile = (64, 32, 16)"),
        ("name = matmul,\n  tile = 64", "tile = 64, name = matmul"),
        ("extents = (k = 64, c = 128,)", "extents = (c = 128, k = 64)"),
        ("extents = (row = 0)", "extents = (row = 0)"),
        ("extents = ()", ""),
        ("device = rtx4090", "device = rtx4090"),
        ("device = h200, dtype = f32", "device = h200"),
        ("dtype = bf16, out = f32", "dtype = bf16, out = f32"),
        ("out = f64, dtype = f64", "dtype = f64"),
        ("accumulate = true,", "accumulate = true"),
        ("accumulate = false", ""),
        ("strides = runtime", "strides = runtime"),
        ("strides = contiguous, tile = 64", "tile = 64"),
        ("ranks = (3,4 , 0)", "ranks = (3, 4, 0)"),
        ("ranks = 3", "ranks = (3)"),
        ("path = ((0,1), (1, 0),)", "path = ((0, 1), (1, 0))"),
        ("path = ((0, 1))", "path = ((0, 1))"),
        ("path = ()", "path = ()"),
        ("outputs=(Y,m , r,)", "outputs = (Y, m, r)"),
        ("epilogue = |acc| acc, outputs = out", "outputs = (out), epilogue = |acc| acc"),
        (
            "epilogue=|acc,bias:j|gelu_tanh(acc+bias)",
            "epilogue = |acc, bias: j| gelu_tanh(acc + bias)",
        ),
        (
            "epilogue = | c , r : ( row , col ) , s : () | s * c - r^2 , tile = 64",
            "tile = 64, epilogue = |c, r: (row, col), s: ()| s * c - r^2",
        ),
        ("epilogue = |acc| max(acc, 0)", "epilogue = |acc| max(acc, 0)"),
    ];
    for (text, canonical) in table {
        assert_eq!(parse(text).unwrap().print(), canonical, "`{text}`");
        assert_eq!(parse(canonical).unwrap().print(), canonical);
    }
}

#[test]
fn values_and_places() {
    let options = parse("tile = (64, 32, 16), extents = (k = 64)").unwrap();
    let Some(Tile::Triple { m, n, k }) = options.tile else { unreachable!("{options:?}") };
    assert_eq!((m.get(), n.get(), k.get()), (64, 32, 16));
    assert_eq!(options.extents["k"], 64);
    let span = options.span_of("tile").unwrap();
    assert_eq!((span.start, span.end), (7, 19));
    assert_eq!(options.span_of("extents.k").unwrap().start, 32);
    assert_eq!(options.device, None);
}

#[test]
fn mistakes() {
    let table = [
        ("tile = 0", Code::BadTile, 7),
        ("tile = (64, 0, 16)", Code::BadTile, 12),
        ("tile = (64, 64)", Code::BadTile, 7),
        ("tile = big", Code::BadTile, 7),
        ("tile = 4294967296", Code::BadTile, 7),
        ("tiel = 64", Code::BadOption, 0),
        ("tile = 64, tile = 32", Code::BadOption, 11),
        ("name = MatMul", Code::BadOption, 7),
        ("name = type", Code::BadOption, 7),
        ("name = _", Code::BadOption, 7),
        ("name = 3", Code::BadOption, 7),
        ("extents = 3", Code::BadOption, 10),
        ("extents = (3, 4)", Code::BadOption, 10),
        ("extents = (k = big)", Code::BadOption, 15),
        ("extents = (k = 1, k = 1)", Code::BadOption, 18),
        ("extents = (k = 4294967296)", Code::SizeOverflow, 15),
        ("device = 4090", Code::BadOption, 9),
        ("strides = (1, 2)", Code::BadOption, 10),
        ("strides = none", Code::BadOption, 10),
        ("ranks = many", Code::BadOption, 8),
        ("ranks = (3, k)", Code::BadOption, 12),
        ("ranks = (3, 256)", Code::BadOption, 12),
        ("ranks = ()", Code::BadOption, 8),
        ("path = greedy", Code::BadOption, 7),
        ("path = (0, 1)", Code::BadOption, 8),
        ("outputs = 2", Code::BadOption, 10),
        ("outputs = ()", Code::BadOption, 10),
        ("outputs = (Y, 2)", Code::BadOption, 14),
        ("outputs = (Y, m, Y)", Code::BadOption, 17),
        ("outputs = (Y, m), accumulate = true", Code::BadOption, 31),
        ("epilogue = relu", Code::BadOption, 11),
        ("epilogue = |acc| relu(x)", Code::Expected, 22),
        ("epilogue = |acc, acc: i| acc", Code::BadOption, 17),
        ("epilogue = |acc, b| acc + b", Code::Expected, 18),
        ("epilogue = |acc, b: i| sum(i) acc * b", Code::BadOption, 27),
        ("epilogue = |acc| acc[i]", Code::Expected, 20),
        ("path = ((0, 1), (0, 1, 2))", Code::BadOption, 16),
        ("path = ((0, -1))", Code::Expected, 12),
        ("dtype = i64", Code::DtypeUnsupported, 8),
        ("dtype = f16, out = tf32", Code::DtypeUnsupported, 19),
        ("dtype = f16, out = bf16", Code::DtypeUnsupported, 19),
        ("out = f64", Code::DtypeUnsupported, 6),
        ("out = 4", Code::BadOption, 6),
        ("accumulate = yes", Code::BadOption, 13),
        ("dtype = 3", Code::BadOption, 8),
        ("tile 64", Code::Expected, 5),
        ("tile =", Code::Expected, 6),
        ("tile = (64", Code::Expected, 10),
        ("tile = 64 32", Code::Expected, 10),
        ("name = \"matmul\"", Code::Expected, 7),
        ("tile = 64; x", Code::Expected, 9),
        ("tile = é", Code::BadChar, 7),
    ];
    for (text, code, start) in table {
        let mistake = first(parse(text));
        assert_eq!((mistake.code, mistake.span.unwrap().start), (code, start), "`{text}`");
        assert_eq!(mistake.source, Source::Options, "`{text}`");
    }
}

#[test]
fn messages_name_the_option_and_what_stands_there() {
    let table = [
        ("tile = 64x64", "expected `,` or the end after `tile = 64`, found `x64`"),
        ("name = mat-mul", "expected `,` or the end after `name = mat`, found `-`"),
        ("name = \"matmul\"", "expected a value without quotes, found `\"`"),
        ("name = match", "the name `match` is reserved by Rust"),
        ("extents = (k = 64 c = 3)", "expected `,` or `)`, found `c`"),
        ("extents = (k = x)", "the extent of label `k` is not a number"),
        ("extents = (k = 4294967296)", "label `k` is 4294967296, the limit is below 2^32"),
        ("outputs = (m, m)", "output `m` is named twice"),
        ("outputs = (Y, m = 3)", "expected `,` or `)`, found `=`"),
        (
            "accumulate = true, outputs = (Y, m)",
            "`accumulate = true` is for one output, but `outputs` names 2",
        ),
        ("ranks = (2, 300)", "a rank is 300 but must be from 0 to 255"),
        ("ranks = (2, x)", "ranks are not one number an operand"),
    ];
    for (text, message) in table {
        assert_eq!(first(parse(text)).message, message, "`{text}`");
    }
    let place = |text: &str| first(parse(text)).place.unwrap();
    assert_eq!(place("name = a, tile = 0"), "option `tile`, byte 17 of the options");
    assert_eq!(place("tile ="), "byte 6 of the options");
}

#[test]
fn all_wrong_values_are_told() {
    let found = codes(parse("tile = 0, nmae = x, dtype = i64"));
    assert_eq!(
        found,
        [(Code::BadTile, Some(7)), (Code::BadOption, Some(10)), (Code::DtypeUnsupported, Some(28)),]
    );
}

#[test]
fn the_nearest_option_is_named() {
    let help = |text: &str| first(parse(text)).help.unwrap();
    assert_eq!(help("tiel = 64"), "write `tile`");
    assert_eq!(help("extent = 64"), "write `extents`");
    assert_eq!(
        help("quux = 64"),
        "the options are: tile, name, extents, device, dtype, out, precision, accumulate, strides, ranks, path, outputs, epilogue"
    );
}
