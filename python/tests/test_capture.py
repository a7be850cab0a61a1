"""dewpoint.capture on small random models of several families, against dense sums and our own forward pass.

PyTorch and Transformers are needed, and for the comparisons with our own program its path in the environment variable
DEWPOINT. What is missing skips the tests that need it, with the reason.

SPDX-License-Identifier: Apache-2.0
"""

import json
import math
import os
import struct
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from dewpoint import capture

PROGRAM = os.environ.get("DEWPOINT", "")
TOKENS, WORDS = 96, 97
WINDOW = 24
FEW = ["--replicates", 20]  # redrawn heads, whose errors are not looked at
STORIES = Path(__file__).parents[3] / "shared" / "data" / "stories260K"
EPSILON = 2.0 ** -24  # half a unit in the last place of 1, float32

SHAPE = dict(vocab_size=WORDS, hidden_size=48, intermediate_size=64, num_hidden_layers=3, num_attention_heads=4,
             num_key_value_heads=2, max_position_embeddings=128, initializer_range=0.3, tie_word_embeddings=False)
YARN = {"rope_type": "yarn", "rope_theta": 10000.0, "factor": 4.0, "original_max_position_embeddings": 32}
MIXED = ["sliding_attention", "full_attention", "sliding_attention"]

# name: (class of configuration, class of model, arguments, attention); the two with learned sinks and capped scores
# have no sdpa.
FAMILIES = {
    "llama": ("LlamaConfig", "LlamaForCausalLM", SHAPE, "sdpa"),
    "llama-yarn": ("LlamaConfig", "LlamaForCausalLM", {**SHAPE, "rope_scaling": YARN}, "sdpa"),
    "llama-eager": ("LlamaConfig", "LlamaForCausalLM", SHAPE, "eager"),
    "qwen3": ("Qwen3Config", "Qwen3ForCausalLM", {**SHAPE, "head_dim": 16}, "sdpa"),
    "mistral-window": ("MistralConfig", "MistralForCausalLM", {**SHAPE, "head_dim": 12, "sliding_window": WINDOW},
                       "sdpa"),
    "gpt2": ("GPT2Config", "GPT2LMHeadModel",
             dict(vocab_size=WORDS, n_embd=48, n_layer=3, n_head=4, n_positions=128, initializer_range=0.3), "sdpa"),
    "gemma2-softcap": ("Gemma2Config", "Gemma2ForCausalLM",
                       {**SHAPE, "head_dim": 12, "query_pre_attn_scalar": 12, "sliding_window": WINDOW,
                        "attn_logit_softcapping": 5.0, "layer_types": MIXED}, "eager"),
    "gpt-oss-sink": ("GptOssConfig", "GptOssForCausalLM",
                     {**SHAPE, "head_dim": 12, "sliding_window": WINDOW, "layer_types": MIXED,
                      "num_local_experts": 2, "num_experts_per_tok": 1}, "eager"),
}
READ_BY_THE_PROGRAM = ["llama", "llama-yarn", "qwen3", "mistral-window", "gpt2"]


# --- what tests share ----------------------------------------------------------------------------------------


@pytest.fixture
def torch():
    found = pytest.importorskip("torch", reason="needs PyTorch")
    pytest.importorskip("transformers", reason="needs Transformers")
    return found


@pytest.fixture
def ids(torch):
    return torch.randint(0, WORDS, (1, TOKENS), generator=torch.Generator().manual_seed(2))


@pytest.fixture
def program():
    if not PROGRAM:
        pytest.skip("needs the program: its path in the environment variable DEWPOINT")

    def run(*words):
        result = subprocess.run([PROGRAM, *map(str, words), "--json"], text=True, capture_output=True, check=False)
        assert result.returncode == 0, result.stderr
        return json.loads(result.stdout)

    return run


def make(family, **changes):
    import torch
    import transformers

    config, model, arguments, attention = FAMILIES[family]
    torch.manual_seed(1)
    built = getattr(transformers, config)(**{**arguments, **changes})
    return getattr(transformers, model)._from_config(built, attn_implementation=attention).eval()


def read(folder):
    """{layer: {part: tensor}} and {layer: metadata} of a folder of a dump."""
    from safetensors import safe_open

    layers, facts = {}, {}
    for path in sorted(Path(folder).rglob("*.safetensors")):
        with safe_open(path, "pt") as file:
            for name in file.keys():
                _, layer, part = name.split(".")
                layers.setdefault(int(layer), {})[part] = file.get_tensor(name)
                facts[int(layer)] = file.metadata()
    return layers, facts


def attention_outputs(model, ids):
    """What the attention of each layer returned, [n, H dv]: the input of its last projection."""
    outputs, hooks = [], []
    for name, module in model.named_modules():
        if name.endswith((".o_proj", "attn.c_proj")):
            hooks.append(module.register_forward_pre_hook(lambda _, inputs: outputs.append(inputs[0][0].detach())))
    logits = model(ids).logits
    for hook in hooks:
        hook.remove()
    return outputs, logits


def dense_attention(parts, facts):
    """In double, from the definition: [n, H dv]."""
    import torch

    q, k, v = (parts[name].double() for name in "qkv")
    group = len(q) // len(k)
    k, v = k.repeat_interleave(group, 0), v.repeat_interleave(group, 0)
    scores = float(facts["scale"]) * q @ k.transpose(1, 2)
    if "softcap" in facts:
        cap = float(facts["softcap"])
        scores = cap * torch.tanh(scores / cap)
    distance = torch.arange(TOKENS)[:, None] - torch.arange(TOKENS)[None, :]
    hidden = (distance < 0) | (distance >= (int(facts["window"]) or TOKENS))
    scores = scores.masked_fill(hidden, -math.inf)
    if "sink" in parts:
        sink = parts["sink"].double()[:, None, None].expand(-1, TOKENS, 1)
        weights = torch.cat([scores, sink], -1).softmax(-1)[..., :-1]
    else:
        weights = scores.softmax(-1)
    return (weights @ v).transpose(0, 1).reshape(TOKENS, -1)


def largest(tensor):
    return tensor.abs().max().item()


# --- the output of the model stays as it was -----------------------------------------------------------------


@pytest.mark.parametrize("family", FAMILIES)
def test_logits_have_the_same_bits(torch, ids, tmp_path, family):
    model = make(family)
    expected = model(ids).logits
    with capture.Capture(model, tmp_path / "dump") as dump:
        found = model(ids).logits
    assert torch.equal(found, expected)
    assert model.config._attn_implementation == FAMILIES[family][3]
    assert torch.equal(model(ids).logits, expected)
    assert dump.layers == [0, 1, 2]


# A score rounds by at most d ε τ|q||k| (d products and sums), tanh and exponential by a few ε, sums over n weights
# and the mean of values by n ε each; an error δ of all scores moves weights by 2δ of themselves, and the output by
# that times the largest value.
@pytest.mark.parametrize("family", FAMILIES)
def test_queries_keys_and_values_give_what_the_attention_returned(torch, ids, tmp_path, family):
    model = make(family)
    with capture.Capture(model, tmp_path / "dump", values=True):
        outputs, _ = attention_outputs(model, ids)
    layers, facts = read(tmp_path / "dump")
    assert len(outputs) == len(layers) == 3
    for number, parts in layers.items():
        q, k, v = (parts[name] for name in "qkv")
        size = float(facts[number]["scale"]) * q.norm(dim=-1).max().item() * k.norm(dim=-1).max().item()
        tolerance = 2 * largest(v) * EPSILON * ((q.shape[-1] + 8) * max(size, 1) + 2 * TOKENS)
        assert largest(dense_attention(parts, facts[number]) - outputs[number]) < tolerance, number


# --- our own forward pass ------------------------------------------------------------------------------------


def compare_with_our_own_pass(program, model, checkpoint, ids, folder):
    """Queries and keys of Transformers and of the program, and what the program finds in both."""
    (folder / "ids.txt").write_text("\n".join(map(str, ids[0].tolist())))
    (folder / "ours").mkdir()
    program("heads", checkpoint, "--ids", folder / "ids.txt", "--length", ids.shape[1], "--dump",
            folder / "ours" / "dump.safetensors", *FEW)
    capture.to_dump(model, ids, folder / "captured")
    assert_same_numbers(read(folder / "captured")[0], read(folder / "ours")[0], 1e-4)
    assert_same_phases(*(program("heads", folder / name, *FEW) for name in ("captured", "ours")))


def assert_same_numbers(found, expected, tolerance):
    assert found.keys() == expected.keys()
    for number, parts in expected.items():
        assert found[number].keys() == parts.keys()
        for name, tensor in parts.items():
            assert largest(found[number][name] - tensor) < tolerance * largest(tensor), (number, name)


# A score moves by 1e-4 of its size, twice, and a dew point by that over the gaps that count, a tenth of the size.
def assert_same_phases(found, expected):
    assert verdicts(found) == verdicts(expected)
    phases, others = (answer["result"]["variables"]["phase"]["mean"] for answer in (found, expected))
    for head, other in zip(sum(phases, []), sum(others, [])):
        assert sum(head, []) == pytest.approx(sum(other, []), rel=2e-3)


def verdicts(answer):
    return [(head["layer"], head["head"], head["verdicts_without_sink"]["1"]["phase"]) for head in answer["heads"]]


# Two float32 passes: a projection of 48 numbers rounds by √48 ε = 4e-7, a layer has a handful of these one after the
# other and its softmax multiplies an error by scores of up to 20: some 1e-5 per layer, three layers.
@pytest.mark.parametrize("family", READ_BY_THE_PROGRAM)
def test_our_own_forward_pass_has_the_same_queries_and_keys(ids, tmp_path, program, family):
    model = make(family)
    model.save_pretrained(tmp_path / "model")
    compare_with_our_own_pass(program, model, tmp_path / "model", ids, tmp_path)


# As above: 64 numbers, five layers.
def test_a_trained_model_that_the_program_exported(torch, tmp_path, program):
    from transformers import LlamaForCausalLM

    checkpoint = STORIES / "stories260K.bin"
    if not checkpoint.exists():
        pytest.skip("stories260K.bin is not beside the project")
    subprocess.run([PROGRAM, "checkpoint", "export", checkpoint, "-o", tmp_path / "model"], check=True)
    story = program("checkpoint", "generate", checkpoint, "--tokenizer", STORIES / "tok512.bin", "--steps", 255)
    model = LlamaForCausalLM.from_pretrained(tmp_path / "model", attn_implementation="sdpa")
    compare_with_our_own_pass(program, model, tmp_path / "model", torch.tensor([story["tokens"]]), tmp_path)


# --- what is said of a layer ---------------------------------------------------------------------------------


def test_facts(ids, tmp_path):
    capture.to_dump(make("llama"), ids, tmp_path / "llama", text="a text")
    layers, facts = read(tmp_path / "llama")
    assert sorted(path.name for path in (tmp_path / "llama").iterdir()) == [
        "layer_000.safetensors", "layer_001.safetensors", "layer_002.safetensors"]
    assert {name: tuple(part.shape) for name, part in layers[2].items()} == {"q": (4, TOKENS, 12), "k": (2, TOKENS, 12)}
    assert facts[2] == {"format": "dewpoint-qk", "version": "1", "layout": "HND", "causal": "true", "rope": "post",
                        "scale": repr(12 ** -0.5), "m_applied": "1.0", "window": "0", "model": "llama",
                        "text_sha256": "734194ede5b063e654d63cb95a682ca1551b45e3cc86e88f1a85c1286eedd4ac"}


# YaRN's factor for a context of 4 times the trained one is 0.1 ln 4 + 1, on queries and on keys.
def test_the_multiplier_of_yarn_is_its_square(ids, tmp_path):
    capture.to_dump(make("llama-yarn"), ids, tmp_path / "dump")
    assert float(read(tmp_path / "dump")[1][0]["m_applied"]) == pytest.approx((0.1 * math.log(4) + 1) ** 2, rel=1e-12)


def test_learned_positions_are_no_rotation(ids, tmp_path):
    capture.to_dump(make("gpt2"), ids, tmp_path / "dump")
    assert read(tmp_path / "dump")[1][0]["rope"] == "none"


def test_a_multiplier_that_depends_on_the_position_is_left_out_with_a_warning(ids, tmp_path):
    model = make("llama")
    model.config.rope_parameters = {**(getattr(model.config, "rope_parameters", None) or {}),
                                    "llama_4_scaling_beta": 0.1}
    with pytest.warns(UserWarning, match="m_applied is left at 1") as found:
        capture.to_dump(model, ids, tmp_path / "dump")
    assert len(found) == 1
    assert read(tmp_path / "dump")[1][0]["m_applied"] == "1.0"


@pytest.mark.parametrize("family", ["gemma2-softcap", "gpt-oss-sink"])
def test_layers_of_different_windows_are_different_dumps(ids, tmp_path, program, family):
    folders = capture.to_dump(make(family), ids, tmp_path / "dump")
    assert folders == [tmp_path / "dump" / "window-0", tmp_path / "dump" / f"window-{WINDOW}"]
    assert [sorted(read(folder)[0]) for folder in folders] == [[1], [0, 2]]
    found = program("heads", folders[1], *FEW)
    assert found["notes"] == [] and found["parameters"]["window"] == str(WINDOW)
    assert len(found["heads"]) == 8


@pytest.mark.parametrize("name, short", [("bfloat16", "BF16"), ("float16", "F16"), ("float32", "F32")])
def test_numbers_are_kept_as_the_model_has_them(torch, ids, tmp_path, program, name, short):
    model = make("llama").to(getattr(torch, name))
    seen = []
    capture.to_dump(model, ids, tmp_path / "dump")
    with capture.Capture(model, seen.append):
        model(ids)
    layers, _ = read(tmp_path / "dump")
    assert header(tmp_path / "dump" / "layer_000.safetensors")["layers.0.q"]["dtype"] == short
    for layer in seen:
        assert torch.equal(layers[layer.number]["q"], layer.q) and torch.equal(layers[layer.number]["k"], layer.k)
    assert program("heads", tmp_path / "dump", *FEW)["notes"] == []


def header(path):
    with open(path, "rb") as file:
        length, = struct.unpack("<Q", file.read(8))
        return json.loads(file.read(length))


def test_another_type_and_fewer_layers(torch, ids, tmp_path):
    capture.to_dump(make("llama"), ids, tmp_path / "all")
    capture.to_dump(make("llama"), ids, tmp_path / "some", layers=[2, 0], dtype="bf16")
    (everything, _), (some, _) = read(tmp_path / "all"), read(tmp_path / "some")
    assert sorted(some) == [0, 2]
    assert torch.equal(some[2]["q"], everything[2]["q"].bfloat16())


# --- in pieces -----------------------------------------------------------------------------------------------


# The same sums in another order, so they differ as our own pass does above, and by less: 1e-5 per layer.
@pytest.mark.parametrize("chunk", [1, 17, 32, 1000])
@pytest.mark.parametrize("family", FAMILIES)
def test_pieces_give_the_same_as_the_whole(ids, tmp_path, family, chunk):
    model = make(family)
    whole = capture.to_dump(model, ids, tmp_path / "whole", values=True)
    pieces = capture.to_dump(model, ids, tmp_path / "pieces", values=True, chunk=chunk)
    assert [path.name for path in pieces[1:]] == [path.name for path in whole[1:]]
    (expected, facts), (found, other_facts) = read(tmp_path / "whole"), read(tmp_path / "pieces")
    assert facts == other_facts
    assert_same_numbers(found, expected, 3e-5)


def test_calls_of_the_user_with_a_cache(torch, ids, tmp_path):
    from transformers import DynamicCache

    model = make("qwen3")
    capture.to_dump(model, ids, tmp_path / "pieces", chunk=40)
    cache = DynamicCache(config=model.config)
    with torch.no_grad(), capture.Capture(model, tmp_path / "own", length=TOKENS):
        for piece in ids.split(40, dim=1):
            model(piece, past_key_values=cache)
    (expected, _), (found, _) = read(tmp_path / "pieces"), read(tmp_path / "own")
    for number, parts in expected.items():
        assert all(torch.equal(tensor, found[number][name]) for name, tensor in parts.items())


def test_generation(torch, ids):
    model, seen = make("llama"), []
    with capture.Capture(model, seen.append, length=TOKENS + 7):
        said = model.generate(ids, max_new_tokens=8, min_new_tokens=8, do_sample=False)
    whole = []
    with capture.Capture(model, whole.append):
        model(said[:, :-1])
    for one, other in zip(seen, whole):
        assert largest(one.q - other.q) < 3e-5 * largest(other.q)


def test_a_layer_is_on_disk_before_the_next_runs(ids, tmp_path):
    model, sizes = make("llama"), []
    model.model.layers[1].register_forward_pre_hook(
        lambda *_: sizes.extend(path.stat().st_blocks > 0 for path in tmp_path.glob(".dump.*/*.safetensors")))
    capture.to_dump(model, ids, tmp_path / "dump")
    assert sizes == [True]


# --- straight into a measurement -----------------------------------------------------------------------------


def test_layers_are_measured_one_after_the_other(torch, ids, tmp_path):
    model, running = make("gpt-oss-sink"), []
    for number, layer in enumerate(model.model.layers):
        layer.register_forward_pre_hook(lambda *_, number=number: running.append(number))

    def measure(q, k, **facts):
        assert q.dtype == k.dtype == torch.float32 and q.is_contiguous() and k.is_contiguous()
        return {"order": list(running), "q": q, "k": k, **facts}

    found = capture.heads(model, ids, measure=measure, scale=0.5, extra="passed on")
    assert [found[number]["order"] for number in (0, 1, 2)] == [[0], [0, 1], [0, 1, 2]]
    capture.to_dump(model, ids, tmp_path / "dump")
    for number, parts in read(tmp_path / "dump")[0].items():
        one = found[number]
        assert all(torch.equal(one[name], parts[name]) for name in ("q", "k", "sink"))
        assert one.get("window") == (None if number == 1 else WINDOW)
        assert (one["scale"], one["causal"], one["extra"]) == (0.5, True, "passed on")
        assert one["m_applied"] == pytest.approx((0.1 * math.log(32) + 1) ** 2, rel=1e-12)  # its YaRN is for 32 times
    pieces = capture.heads(model, ids, measure=measure, chunk=40)
    assert pieces[2]["q"].shape == (4, TOKENS, 12) and pieces[2]["scale"] == 12 ** -0.5


def test_layers_go_straight_into_our_heads(ids, tmp_path, program):
    import dewpoint

    if not hasattr(dewpoint, "heads"):
        pytest.skip("needs the compiled part of the package")
    model = make("gpt-oss-sink").bfloat16()
    found = capture.heads(model, ids, layers=[0, 2], replicates=20)
    capture.to_dump(model, ids, tmp_path / "dump", layers=[0, 2])
    expected = verdicts(program("heads", tmp_path / "dump", *FEW))
    assert [(layer, head["head"], head["verdicts_without_sink"]["1"]["phase"])
            for layer, answer in found.items() for head in answer["heads"]] == expected


# --- nothing is left behind ----------------------------------------------------------------------------------


class Interruption(BaseException):
    pass


def test_an_interruption_leaves_no_file_and_the_model_as_it_was(torch, ids, tmp_path):
    model = make("llama")
    expected = model(ids).logits

    def interrupt(*_):
        raise Interruption

    hook = model.model.layers[2].register_forward_pre_hook(interrupt)
    model.train()
    with pytest.raises(Interruption):
        capture.to_dump(model, ids, tmp_path / "dump")
    hook.remove()
    assert list(tmp_path.iterdir()) == []
    assert model.training and model.config._attn_implementation == "sdpa"
    assert torch.equal(model.eval()(ids).logits, expected)
    capture.to_dump(model, ids, tmp_path / "dump")


def test_two_models_in_two_threads(torch, ids, tmp_path):
    expected = [capture.to_dump(make(family), ids, tmp_path / f"alone-{family}") for family in ("llama", "qwen3")]
    models = [make(family) for family in ("llama", "qwen3")]
    threads = [threading.Thread(target=capture.to_dump, args=(model, ids, tmp_path / str(i)))
               for i, model in enumerate(models)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for i, folders in enumerate(expected):
        one, other = read(folders[0])[0], read(tmp_path / str(i))[0]
        assert all(torch.equal(one[n][name], other[n][name]) for n in one for name in one[n])


# --- refusals ------------------------------------------------------------------------------------------------


def refuse(error, words, call):
    with pytest.raises(error) as found:
        call()
    message = str(found.value)
    assert "\n" not in message
    for word in words:
        assert word in message


def test_arguments(torch, ids, tmp_path):
    model, path = make("llama"), tmp_path / "dump"
    (tmp_path / "there").mkdir()
    for error, words, call in [
        (TypeError, ["model", "Linear"], lambda: capture.Capture(torch.nn.Linear(2, 2), path)),
        (ValueError, ["dtype", "int8", "bf16"], lambda: capture.to_dump(model, ids, path, dtype="int8")),
        (ValueError, ["length", "-1"], lambda: capture.Capture(model, path, length=-1)),
        (ValueError, ["chunk", "0"], lambda: capture.to_dump(model, ids, path, chunk=0)),
        (ValueError, ["input_ids", "[2, 96]"], lambda: capture.to_dump(model, ids.repeat(2, 1), path)),
        (ValueError, ["input_ids", "[1, 0]"], lambda: capture.to_dump(model, ids[:, :0], path)),
        (TypeError, ["input_ids", "float32"], lambda: capture.to_dump(model, ids.float(), path)),
        (ValueError, ["layers", "[7]"], lambda: capture.to_dump(model, ids, path, layers=[0, 1, 7])),
        (ValueError, ["layers", "[7]"], lambda: capture.to_dump(model, ids, path, layers=[7])),
        (FileExistsError, ["output", "there"], lambda: capture.to_dump(model, ids, tmp_path / "there")),
    ]:
        refuse(error, words, call)
        assert [path.name for path in tmp_path.iterdir()] == ["there"]
        assert model.config._attn_implementation == "sdpa"


def test_other_attention(torch, ids, tmp_path):
    model = make("llama")
    model.set_attn_implementation("flex_attention")
    refuse(ValueError, ["flex_attention", "sdpa"], lambda: capture.to_dump(model, ids, tmp_path / "dump"))


def test_models_that_are_not_causal(torch, ids, tmp_path):
    from transformers import BertConfig, BertModel

    model = BertModel(BertConfig(vocab_size=WORDS, hidden_size=48, num_hidden_layers=1, num_attention_heads=4,
                                 intermediate_size=64)).eval()
    refuse((ValueError, TypeError), ["model", "AttentionInterface"],
           lambda: capture.to_dump(model, ids, tmp_path / "dump"))


@pytest.mark.parametrize("family", ["llama", "llama-eager"])
def test_padding(torch, ids, family):
    model, seen = make(family), []
    texts, mask = ids.repeat(2, 1), torch.ones(2, TOKENS, dtype=torch.long)
    mask[1, :5] = 0

    def run(batch):
        with capture.Capture(model, seen.append, batch=batch):
            model(texts, attention_mask=mask)

    refuse(ValueError, ["batch", "2 texts"], lambda: run(None))
    refuse(ValueError, ["batch", "2", "0 to 1"], lambda: run(2))
    refuse(ValueError, ["attention_mask", "padding"], lambda: run(1))
    assert seen == []
    run(0)
    assert [layer.number for layer in seen] == [0, 1, 2]


def test_packed_texts(torch, ids):
    model = make("llama")
    positions = torch.cat([torch.arange(40), torch.arange(TOKENS - 40)])[None]

    def run():
        with capture.Capture(model, lambda layer: None):
            model(ids, position_ids=positions, use_cache=False)

    refuse(ValueError, ["attention_mask", "causal order"], run)


def test_texts_of_another_length(torch, ids, tmp_path):
    model = make("llama")

    def run(length, calls):
        with capture.Capture(model, tmp_path / "dump", length=length):
            for _ in range(calls):
                model(ids)

    refuse(ValueError, ["length", "192", "96"], lambda: run(None, 2))
    refuse(ValueError, ["length", "96", "100"], lambda: run(100, 1))
    refuse(ValueError, ["past_key_values", "96 keys for 192 tokens"], lambda: run(192, 2))
    assert list(tmp_path.iterdir()) == []


def test_a_cache_that_is_allocated_beforehand(torch, ids):
    from transformers import StaticCache

    model = make("llama")

    def run():
        with capture.Capture(model, lambda layer: None):
            model(ids, past_key_values=StaticCache(config=model.config, max_cache_len=128))

    refuse(ValueError, ["past_key_values", "128 keys for 96 tokens"], run)


def test_one_capture_of_a_model_at_a_time(torch, ids, tmp_path):
    model = make("llama")
    with capture.Capture(model, tmp_path / "one"):
        model(ids)
        refuse(ValueError, ["model", "captured already"], lambda: capture.to_dump(model, ids, tmp_path / "two"))
    assert [path.name for path in tmp_path.iterdir()] == ["one"]


def test_without_the_libraries():
    script = """if True:
        import sys
        sys.modules["torch"] = None  # importing it fails
        from dewpoint import capture
        try:
            capture.to_dump(None, [1, 2], "dump")
        except ImportError as error:
            print(error)
    """
    found = subprocess.run([sys.executable, "-c", script], text=True, capture_output=True, check=True).stdout
    assert "pip install torch" in found and found.count("\n") == 1
