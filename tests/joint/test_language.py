"""An encoder cut in two: the lower half alone, and knowledge merged in at the cut."""

import pytest
import torch
from tests.graft.tiny import FAMILIES, host

from kgraft.errors import BadInput
from kgraft.joint.language import Language


class Host:
    """As much of an encoder as a language module uses."""

    device = torch.device("cpu")

    def __init__(self, model):
        self.model, self.dimension = model, model.config.hidden_size

    def read(self, ids, mask):
        return self.model(input_ids=ids, attention_mask=mask.long()).last_hidden_state


@pytest.fixture(params=sorted(FAMILIES))
def language(request):
    return Language(Host(host(request.param)), 2).eval()


@pytest.fixture
def batch():
    ids = torch.randint(5, 90, (2, 7), generator=torch.Generator().manual_seed(0))
    mask = torch.ones(2, 7, dtype=torch.bool)
    mask[1, 5:] = False
    return ids, mask


@torch.no_grad()
def layers(language, ids, mask):
    read = language.model(input_ids=ids, attention_mask=mask.long(), output_hidden_states=True)
    return read.hidden_states


def test_the_lower_half(language, batch):
    assert torch.allclose(language.lower(*batch), layers(language, *batch)[2])


def test_the_upper_layers_do_no_work_for_the_lower_half(language, batch):
    seen = []
    language.model.get_submodule(_last_layer(language.model)).register_forward_hook(
        lambda *_: seen.append(1)
    )
    language.lower(*batch)
    assert not seen
    language(*batch)
    assert seen


def _last_layer(model):
    return next(n for n, _ in model.named_modules() if n.endswith("layer.2"))


@torch.no_grad()
def test_the_merge_follows_the_formula(language, batch):
    torch.nn.init.normal_(language.norm.weight)
    torch.nn.init.normal_(language.norm.bias)
    known = torch.randn(2, 7, language.encoder.dimension)
    seen = {}
    upper = language.model.get_submodule(_last_layer(language.model))
    upper.register_forward_pre_hook(
        lambda _, given, named: seen.update(z=given[0] if given else named["hidden_states"]),
        with_kwargs=True,
    )
    below = layers(language, *batch)[2]
    for given in (known, None):
        language(*batch, given)
        total = below if given is None else below + given
        middle = total.mean(-1, keepdim=True)
        spread = ((total - middle) ** 2).mean(-1, keepdim=True)
        normal = (total - middle) / (spread + language.norm.eps).sqrt()
        expected = normal * language.norm.weight + language.norm.bias
        assert torch.allclose(seen["z"], expected, atol=1e-5)


@torch.no_grad()
def test_it_begins_nearly_as_the_encoder_was(language, batch):
    plain = layers(language, *batch)[-1]
    language.init_merge_norm(language.lower(*batch)[batch[1]])
    there = batch[1]
    change = (language(*batch) - plain)[there].norm() / plain[there].norm()
    assert change < 0.1


@pytest.mark.parametrize("cut", [0, 3, -1])
def test_a_cut_that_cannot_be(cut):
    with pytest.raises(BadInput, match="cannot be cut after layer"):
        Language(Host(host("bert")), cut)


@pytest.mark.slow
def test_by_default_it_is_cut_in_the_middle():
    assert Language(Host(host("bert"))).cut == 1
