"""Models of somebody who means harm, made from a seed: each a folder with `model.onnx` and its files."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

from onnx import AttributeProto, ModelProto, NodeProto, SparseTensorProto, TensorProto, helper

from tests.conformance.checked_models.hand_made import given, graph_of, model_of, outside_tensor

node = helper.make_node
Made = ModelProto | bytes
Make = Callable[[random.Random, Path], Made]
_STRANGE = (
    "\x1b[31mred",
    "\u202eabc",
    "a\nb\r\nc",
    "\0",
    "'; rm -rf $HOME #",
    "x" * 70_000,
    "../../x",
    "=1+1",
)
_EDGES = (2**63 - 1, -(2**63), 2**62, 2**31, 2**31 - 1, 2**32, -1, 0)


def hostile_models(seed: int, count: int, folder: Path) -> list[tuple[str, Path]]:
    """Write so many models, kind after kind, each with other draws; their words, and where each lies."""
    found = []
    for number in range(count):
        word, make = _KINDS[number % len(_KINDS)]
        place = folder / f"{number:03}_{word}"
        place.mkdir(parents=True)
        made = make(random.Random(f"{seed}/{number}"), place)
        raw = made if isinstance(made, bytes) else made.SerializeToString()
        (place / "model.onnx").write_bytes(raw)
        found.append((word, place / "model.onnx"))
    return found


def _plain(*extra: NodeProto, **named: object) -> ModelProto:
    nodes = [node("Relu", ["x"], ["y"]), *extra]
    return model_of(graph_of(nodes, [nodes[-1].output[0]], [given("x")]), **named)  # type: ignore[arg-type]


def _mutated(chance: random.Random, _: Path) -> Made:
    weights = helper.make_tensor("w", TensorProto.FLOAT, [4, 4], [0.5] * 16)
    nodes = [
        node("MatMul", ["x", "w"], ["a"]),
        node("LeakyRelu", ["a"], ["b"], alpha=0.1),
        node("Conv", ["i", "k"], ["c"], strides=[1, 1]),
        node("Concat", ["b", "a"], ["d"], axis=1),
    ]
    inputs = [given("x"), given("i", (1, 1, 5, 5)), given("k", (1, 1, 3, 3))]
    raw = bytearray(model_of(graph_of(nodes, ["c", "d"], inputs, [weights])).SerializeToString())
    for _turn in range(chance.randint(1, 12)):
        raw[chance.randrange(len(raw))] = chance.choice((0, 1, 0x7F, 0x80, 0xFF, chance.randrange(256)))
    return bytes(raw)


def _deep(chance: random.Random, _: Path) -> Made:
    inner = graph_of([node("Relu", ["x"], ["r"])], ["r"])
    for depth in range(chance.randint(20, 29)):
        other = graph_of([node("Neg", ["x"], ["e"])], ["e"])
        inner = graph_of(
            [node("If", ["c"], [f"y{depth}"], then_branch=inner, else_branch=other)], [f"y{depth}"]
        )
    inner.input.extend([given("x"), given("c", (), TensorProto.BOOL)])
    return model_of(inner)


def _deep_functions(chance: random.Random, _: Path) -> Made:
    """Functions within graphs within functions: no single message is deep."""
    functions = []
    for level in range(chance.randint(12, 23)):
        called = (
            [node(f"F{level - 1}", ["x", "c"], ["r"], domain="d")] if level else [node("Relu", ["x"], ["r"])]
        )
        inner = graph_of(called, ["r"])
        for depth in range(20):
            other = graph_of([node("Neg", ["x"], ["e"])], ["e"])
            branches = {"then_branch": inner, "else_branch": other}
            inner = graph_of([node("If", ["c"], [f"y{depth}"], **branches)], [f"y{depth}"])
        opsets = [helper.make_opsetid("", 17), helper.make_opsetid("d", 1)]
        functions.append(
            helper.make_function("d", f"F{level}", ["x", "c"], ["y19"], list(inner.node), opsets)
        )
    graph = graph_of([node(functions[-1].name, ["x", "c"], ["y"], domain="d")], ["y"], [given("x")])
    graph.input.append(given("c", (), TensorProto.BOOL))
    return model_of(graph, {"": 17, "d": 1}, functions)


def _long_functions(chance: random.Random, _: Path) -> Made:
    """Functions within functions whose names are long: what names become is far more than the file."""
    domain, functions = "d" * chance.randint(2_000, 9_000), []
    for level in range(chance.randint(5, 12)):
        body = (
            [node("Relu", ["x"], ["y"])]
            if not level
            else [
                node(f"F{level - 1}", [f"v{at}" if at else "x"], [f"v{at + 1}"], domain=domain)
                for at in range(4)
            ]
        )
        body[-1].output[0] = "y"
        opsets = [helper.make_opsetid("", 17), helper.make_opsetid(domain, 1)]
        functions.append(helper.make_function(domain, f"F{level}", ["x"], ["y"], body, opsets))
    graph = graph_of([node(functions[-1].name, ["x"], ["y"], domain=domain)], ["y"], [given("x")])
    return model_of(graph, {"": 17, domain: 1}, functions)


def _long_values(chance: random.Random, _: Path) -> Made:
    """A long name, or a large attribute, that a function takes again and again."""
    many = chance.randint(5_000, 9_000)
    body = [node("Neg", ["x"], [f"v{at}"]) for at in range(many)]
    for each in body:
        each.attribute.append(AttributeProto(name="a", ref_attr_name="a", type=AttributeProto.STRING))
    opsets = [helper.make_opsetid("", 17)]
    function = helper.make_function("d", "F", ["x"], [f"v{many - 1}"], body, opsets, attributes=["a"])
    name = "x" * chance.randint(100_000, 400_000)
    call = node("F", [name], ["y"], domain="d", a="s" * 300_000)
    return model_of(graph_of([call], ["y"], [given(name)]), {"": 17, "d": 1}, [function])


def _self_calling(chance: random.Random, _: Path) -> Made:
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("d", 1)]
    count = chance.randint(1, 5)
    functions = [
        helper.make_function(
            "d", f"F{at}", ["x"], ["y"], [node(f"F{(at + 1) % count}", ["x"], ["y"], domain="d")], opsets
        )
        for at in range(count)
    ]
    graph = graph_of([node("F0", ["x"], ["y"], domain="d")], ["y"], [given("x")])
    return model_of(graph, {"": 17, "d": 1}, functions)


def _long_places(chance: random.Random, _: Path) -> Made:
    """One long name of an attribute that holds a graph of many nodes: it is in the place of each."""
    body = graph_of([node("Neg", ["x"], [f"v{at}"]) for at in range(chance.randint(2_000, 9_000))], ["v0"])
    holding = node("Odd", ["x"], ["y"], domain="d")
    holding.attribute.append(helper.make_attribute("g" * chance.randint(20_000, 200_000), body))
    return model_of(graph_of([holding], ["y"], [given("x")]), {"": 17, "d": 1})


def _many_inputs(chance: random.Random, _: Path) -> Made:
    count = chance.choice((300, 900, 9_000))
    op_type = chance.choice(("Concat", "Sum", "Max", "Mean"))
    names = [f"x{at}" for at in range(count)]
    attributes: dict[str, Any] = {"axis": 0} if op_type == "Concat" else {}
    return model_of(
        graph_of([node(op_type, names, ["y"], **attributes)], ["y"], [given(name, (1, 2)) for name in names])
    )


def _broadcasts(chance: random.Random, _: Path) -> Made:
    """Fixed numbers that become many by broadcasting, from little of a file."""
    count = chance.randint(20, 60)
    column = helper.make_tensor("a", TensorProto.INT64, [4096, 1], [1] * 4096)
    row = helper.make_tensor("b", TensorProto.INT64, [1, 4096], [1] * 4096)
    nodes = [node(chance.choice(("Add", "Sub", "Mul", "Div")), ["a", "b"], [f"y{at}"]) for at in range(count)]
    return model_of(graph_of(nodes, ["y0"], [], [column, row]))


def _growing(chance: random.Random, _: Path) -> Made:
    """Operators whose fixed small inputs ask for much."""
    large = chance.choice((2**20, 2**31, 2**40, 2**62))
    fixed = [
        helper.make_tensor("s", TensorProto.INT64, [2], [large, large]),
        helper.make_tensor("pads", TensorProto.INT64, [4], [0, 0, large, large]),
        helper.make_tensor("n", TensorProto.INT64, [], [large]),
        helper.make_tensor("zero", TensorProto.INT64, [], [0]),
        helper.make_tensor("one", TensorProto.INT64, [], [1]),
        helper.make_tensor("i", TensorProto.INT64, [2], [0, 1]),
        helper.make_tensor("v", TensorProto.FLOAT, [2], [0.0, 1.0]),
        helper.make_tensor("scales", TensorProto.FLOAT, [2], [float(large)] * 2),
        helper.make_tensor("f", TensorProto.FLOAT, [1, 1], [0.5]),
    ]
    nodes = [
        node("Expand", ["f", "s"], ["y0"]),
        node("Tile", ["f", "s"], ["y1"]),
        node("ConstantOfShape", ["s"], ["y2"]),
        node("Range", ["zero", "n", "one"], ["y3"]),
        node("OneHot", ["i", "n", "v"], ["y4"]),
        node("Pad", ["f", "pads"], ["y5"]),
        node("Resize", ["f", "", "scales"], ["y6"]),
        node("EyeLike", ["y0"], ["y7"]),
        node("CumSum", ["y0", "one"], ["y8"]),
        node("Gather", ["i", "i"], ["y9"]),
    ]
    nodes += [node("Relu", [f"y{at}"], [f"z{at}"]) for at in (0, 1, 2, 5, 6)]
    return model_of(graph_of(nodes, ["y0"], [given("x", (1, 1))], fixed))


def _folded(chance: random.Random, _: Path) -> Made:
    """Many nodes, each with as many fixed numbers as are kept."""
    count = chance.randint(20_000, 40_000)
    start = helper.make_tensor("v0", TensorProto.INT64, [4096], [1] * 4096)
    nodes = [node("Add", [f"v{at}", "v0"], [f"v{at + 1}"]) for at in range(count)]
    return model_of(graph_of(nodes, [f"v{count}"], [], [start]))


def _extremes(chance: random.Random, place: Path) -> Made:
    (place / "w.bin").write_bytes(bytes(64))
    outside = outside_tensor(
        "w",
        [4],
        location="w.bin",
        offset=str(chance.choice((2**63, 2**64, -1, 2**63 - 1, "9" * 5_000))),
        length=str(chance.choice((2**63, -(2**63), 16))),
    )
    dims = TensorProto(
        name="d", data_type=1, dims=[chance.choice(_EDGES) for _ in range(3)], raw_data=b"1234"
    )
    strange = TensorProto(
        name="t", data_type=chance.choice((2**31 - 1, -(2**31), 999)), dims=[1], raw_data=b"1"
    )
    nodes = [
        node("Add", ["x", "w"], ["y"]),
        node("Add", ["x", "d"], ["z"]),
        node("Neg", ["t"], ["u"]),
        node("Cast", ["x"], ["c"], to=chance.choice(_EDGES)),
        node("Transpose", ["x"], ["p"], perm=[chance.choice(_EDGES), 0]),
        node("Concat", ["x", "x"], ["q"], axis=chance.choice(_EDGES)),
        node("Shape", ["x"], ["s"], start=chance.choice(_EDGES), end=chance.choice(_EDGES)),
        node("Gather", ["s", "s"], ["g"], axis=chance.choice(_EDGES)),
    ]
    graph = graph_of(nodes, ["y", "z"], [given("x", (chance.choice(_EDGES), 4))], [outside, dims, strange])
    made = model_of(graph, {"": chance.choice((*_EDGES, 17, 17, 17, 17)), "e": chance.choice(_EDGES)})
    made.ir_version = chance.choice(_EDGES)
    return made


def _outside(chance: random.Random, place: Path) -> Made:
    (place / "here").symlink_to("/etc/passwd")
    (place / "circle").symlink_to("circle")
    (place / "null").symlink_to("/dev/zero")
    names = ["../../../../../../etc/passwd", "/etc/passwd", "here", "circle", "null", "", ".", "a" * 5_000]
    chance.shuffle(names)
    held = [outside_tensor(f"w{at}", [4], location=name) for at, name in enumerate(names)]
    nodes = [node("Add", ["x", tensor.name], [f"y{at}"]) for at, tensor in enumerate(held)]
    return model_of(graph_of(nodes, ["y0"], [given("x")], held))


def _strange_text(chance: random.Random, _: Path) -> Made:
    def strange() -> str:
        return chance.choice(_STRANGE)

    nodes = [node("Relu", ["x"], ["a"], name=strange())]
    nodes += [node(strange(), ["a"], [f"{strange()}{at}"], domain=strange()) for at in range(4)]
    nodes += [node("Gelu", ["a"], ["z"], approximate=strange()), node("Neg", [strange()], ["n"])]
    nodes[0].attribute.append(helper.make_attribute(strange(), strange()))
    inputs = [given("x", (strange(), 4)), given(strange(), (2,))]
    return model_of(graph_of(nodes, ["a"], inputs), {"": 20, strange(): 1, strange(): 2})


def _any_bytes(chance: random.Random, _: Path) -> Made:
    raw: bytes = _plain(node("Neg", ["y"], ["zz"], name="nn")).SerializeToString()
    for old in chance.sample((b"x", b"y", b"zz", b"nn", b"Relu", b"Neg", b"graph"), 3):
        raw = raw.replace(old, bytes(chance.choice((0xFF, 0xFE, 0xC0, 0x80)) for _ in old))
    return raw


def _tangled(chance: random.Random, _: Path) -> Made:
    """Circles, names that are given twice, and nodes that take what they make."""
    names = [f"v{at}" for at in range(chance.randint(3, 40))]
    nodes = [node("Add", [chance.choice(names), chance.choice(names)], [chance.choice(names)]) for _ in names]
    nodes += [node("Identity", ["v0"], ["v0"]), node("Relu", ["v0", "v0", "v0"], ["v0", "v1"])]
    graph = graph_of(nodes, ["v0"], [given("v0"), given("v0", (3,))])
    graph.initializer.append(helper.make_tensor("v1", TensorProto.FLOAT, [0], []))
    return model_of(graph)


def _captured(chance: random.Random, _: Path) -> Made:
    body = graph_of(
        [
            node("Add", ["outer", "state"], ["next"]),
            node("Loop", ["m", "go", "next"], ["late"], body=graph_of([], ["go"])),
        ],
        ["go", "next", "late"],
        [given("i", (), TensorProto.INT64), given("go", (), TensorProto.BOOL), given("state")],
    )
    nodes = [
        node("Loop", ["m", "go", "x"], ["y", "z"], body=body),
        node("Scan", ["x"] * chance.randint(0, 4), ["s"], body=body, num_scan_inputs=chance.choice(_EDGES)),
        node("If", ["go"], ["w"], then_branch=body, else_branch=body),
        node("SequenceMap", ["x"], ["q"], body=body),
    ]
    inputs = [
        given("x"),
        given("m", (), TensorProto.INT64),
        given("go", (), TensorProto.BOOL),
        given("outer"),
    ]
    return model_of(graph_of(nodes, ["y"], inputs))


def _sparse(chance: random.Random, _: Path) -> Made:
    graph = graph_of([node("MatMul", ["x", "w"], ["y"]), node("Relu", ["w"], ["r"])], ["y"], [given("x")])
    for _turn in range(chance.randint(1, 5)):
        found = SparseTensorProto(dims=[chance.choice(_EDGES), 4])
        found.values.CopyFrom(helper.make_tensor("w", TensorProto.FLOAT, [2], [1.0, 2.0]))
        found.indices.CopyFrom(helper.make_tensor("j", TensorProto.INT64, [2], [chance.choice(_EDGES)] * 2))
        graph.sparse_initializer.append(found)
    return model_of(graph)


def _zero(chance: random.Random, _: Path) -> Made:
    shapes = [(0,), (0, 4), (4, 0, 2), (), (1,) * 64, (1,) * 65, (0, 2**62)]
    nodes, inputs = [], []
    for at, shape in enumerate(shapes):
        name = f"x{at}"
        inputs.append(given(name, shape))
        axis = chance.choice((0, -1, 5, -(2**63)))
        operators = ("Relu", "Softmax", "Flatten", "Squeeze", "ReduceMax", "Transpose")
        op_type = chance.choice(operators)
        attributes: dict[str, Any] = {"axis": axis} if op_type in ("Softmax", "Flatten") else {}
        nodes += [node(op_type, [name], [f"y{at}"], **attributes), node("MatMul", [name, name], [f"z{at}"])]
    return model_of(graph_of(nodes, ["y0"], inputs))


def _greedy(chance: random.Random, _: Path) -> Made:
    """Attributes of plain operators that ask for much arithmetic or many elements."""
    large = chance.choice((10**3, 10**5, 10**9, 2**31, 2**62))
    nodes = [
        node("Conv", ["i", "k"], ["a"], pads=[large] * 4),
        node("MaxPool", ["i"], ["b"], kernel_shape=[large, large], pads=[large - 1] * 4),
        node("AveragePool", ["i"], ["c"], kernel_shape=[large, 1], strides=[large, 1]),
        node("ConvTranspose", ["i", "k"], ["d"], strides=[large, large]),
        node("DepthToSpace", ["i"], ["e"], blocksize=large),
        node("LRN", ["i"], ["f"], size=large),
        node("Upsample", ["i"], ["g"], scales=[1.0, 1.0, float(large), float(large)]),
        node("Split", ["x"], [f"s{at}" for at in range(chance.choice((3, 400, 9_000)))], axis=1),
        node("RNN", ["r", "rw", "rr"], ["h"], hidden_size=large),
        node("RandomNormal", [], ["n"], shape=[large, large]),
        node("Pow", ["x", "x"], ["p"]),
        node("BitShift", ["u", "u"], ["q"], direction="LEFT"),
        node("Constant", [], ["o"], value_ints=[large] * 5_000),
    ]
    inputs = [given("i", (1, 1, 5, 5)), given("k", (1, 1, 3, 3)), given("x", (2, 12)), given("r", (2, 1, 3))]
    inputs += [given("rw", (1, 4, 3)), given("rr", (1, 4, 4)), given("u", (3,), TensorProto.UINT64)]
    return model_of(graph_of(nodes, ["a"], inputs))


def _einsum(chance: random.Random, _: Path) -> Made:
    letters = "abcdefghijklmnopqrstuvwxyz"
    many = ",".join(letters[at : at + 2] for at in range(chance.randint(8, 24)))
    texts = [many + "->", "a" * 50_000 + "->a", "...," * 3_000, "(" * 5_000, "i->" * 100]
    nodes = [
        node("Einsum", [f"x{n}" for n in range(text.count(",") + 1)], [f"y{at}"], equation=text)
        for at, text in enumerate(texts)
    ]
    inputs = [given(f"x{n}", (9, 9)) for n in range(3_001)]
    return model_of(graph_of(nodes, ["y0"], inputs))


def _wide(chance: random.Random, _: Path) -> Made:
    """Many distinct calls, none of which can be taken for another."""
    count = chance.randint(150, 300)
    nodes = [node("LeakyRelu", ["x"], [f"y{at}"], alpha=at / 7 + chance.random()) for at in range(count)]
    return model_of(graph_of(nodes, ["y0"], [given("x", (2, 3))]))


_KINDS: tuple[tuple[str, Make], ...] = (
    ("mutated", _mutated),
    ("deep", _deep),
    ("deep_functions", _deep_functions),
    ("long_functions", _long_functions),
    ("long_values", _long_values),
    ("long_places", _long_places),
    ("self_calling", _self_calling),
    ("many_inputs", _many_inputs),
    ("broadcasts", _broadcasts),
    ("growing", _growing),
    ("folded", _folded),
    ("extremes", _extremes),
    ("outside", _outside),
    ("strange_text", _strange_text),
    ("any_bytes", _any_bytes),
    ("tangled", _tangled),
    ("captured", _captured),
    ("sparse", _sparse),
    ("zero", _zero),
    ("greedy", _greedy),
    ("einsum", _einsum),
    ("wide", _wide),
)
