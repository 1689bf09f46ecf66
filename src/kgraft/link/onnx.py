"""The link model for ONNX Runtime: one byte per weight, the fast path on a processor.

The exported file lies beside the model's own, with what the bytes cost in F1 on validation texts;
a linker uses it where that is little.
"""

from __future__ import annotations

import json
import logging
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from copy import copy
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import torch
from torch import nn

from kgraft.errors import BadInput, MissingExtra, import_optional
from kgraft.json_text import read_json_file
from kgraft.link.model import EncoderOutput, LinkModel
from kgraft.storage import new_file, sha256

logger = logging.getLogger("kgraft.link")
FILE, COST = "model.int8.onnx", "model.int8.json"
AFFORDABLE = 0.005  # of F1, that the fast path may cost
EXTRA = "onnx"
_QUANTISED = ["MatMul", "Gemm", "Gather"]  # matrices, and the table of word vectors


class OnnxReader:
    """Reads windows with an exported model."""

    def __init__(self, file: Path, longest: int) -> None:
        runtime = import_optional("onnxruntime", EXTRA)
        options = runtime.SessionOptions()
        options.intra_op_num_threads = torch.get_num_threads()
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        self.longest = longest
        try:
            self._session = runtime.InferenceSession(str(file), options)
        except Exception as error:  # its errors share no base class of their own
            raise BadInput(f"is not an exported link model ({error})", file=str(file)) from error

    def read(self, ids: np.ndarray, mask: np.ndarray) -> EncoderOutput:
        """Read token ids and mask, (B, L) each."""
        given = {"input_ids": ids, "attention_mask": mask.astype(np.int64)}
        marks, vectors = self._session.run(None, given)
        return EncoderOutput(torch.from_numpy(marks), torch.from_numpy(vectors))


def export_model(model: LinkModel, folder: Path) -> Path:
    """Write a merged model as int8 ONNX into a folder, and return the file."""
    import_optional("onnxscript", EXTRA)
    quantization = import_optional("onnxruntime.quantization", EXTRA)
    with TemporaryDirectory() as room, _quiet():
        plain = Path(room) / "model.onnx"
        _export(model, plain)
        with new_file(folder / FILE) as partial:
            quantization.quantize_dynamic(
                plain,
                partial,
                per_channel=True,
                reduce_range=True,  # 7 bits: processors without VNNI add up in 16, and saturate
                op_types_to_quantize=_QUANTISED,
            )
    return folder / FILE


def record_cost(folder: Path, *, plain: float, fast: float) -> float:
    """Note the weak F1 of the model and of its exported form; return what the latter costs."""
    cost = {"weak_f1": plain, "int8_weak_f1": fast, "cost": plain - fast}
    cost_and_file = {**cost, "sha256": sha256(folder / FILE)}
    with new_file(folder / COST) as partial:
        partial.write_text(json.dumps(cost_and_file, indent=1) + "\n", "utf-8")
    return plain - fast


def fast_reader(folder: Path, longest: int) -> OnnxReader | None:
    """Return the exported form of a model, where there is one that costs little and can be run.

    A file is opened only if it is the one whose cost was measured.
    """
    try:
        record = read_json_file(folder / COST)
        cost, expected = float(record["cost"]), str(record["sha256"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        logger.debug("%s has no exported form that can be used (%s)", folder, error)
        return None
    if not cost <= AFFORDABLE or not (folder / FILE).is_file():
        return None
    if sha256(folder / FILE) != expected:
        reason = f"is not the model that {COST} was written for"
        raise BadInput(reason, file=str(folder / FILE), remedy="export it again, or remove it")
    try:
        return OnnxReader(folder / FILE, longest)
    except MissingExtra as error:
        logger.debug("%s is not used: %s", folder / FILE, error)
        return None


class _Outputs(nn.Module):
    """The model with a plain tuple for its output, on Hugging Face's encoder: it can be traced."""

    def __init__(self, model: LinkModel) -> None:
        super().__init__()
        self.host = copy(model.encoder).model  # a copy: the model's own keeps its faster way
        self.mark, self.project = model.mark, model.project

    def forward(
        self, input_ids: torch.Tensor, attention_mask: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        output = self.host(input_ids=input_ids, attention_mask=attention_mask)
        return self.mark(output.last_hidden_state), self.project(output.last_hidden_state)


def _export(model: LinkModel, file: Path) -> None:
    ids = torch.ones(2, 8, dtype=torch.int64)
    most = model.encoder.max_length
    shape = {0: torch.export.Dim("batch", max=1 << 16), 1: torch.export.Dim("length", max=most)}
    torch.onnx.export(
        _Outputs(model).eval(),
        (ids, torch.ones_like(ids)),
        file,
        dynamo=True,
        input_names=["input_ids", "attention_mask"],
        output_names=["marks", "vectors"],
        dynamic_shapes={"input_ids": shape, "attention_mask": shape},
        external_data=False,
        verbose=False,
    )


@contextmanager
def _quiet() -> Iterator[None]:
    """Silence the exporters, which warn of what they skip."""
    before = logging.root.manager.disable
    logging.disable(logging.WARNING)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(before)
