# SPDX-License-Identifier: Apache-2.0
"""The loop of the example with TorchTitan's own loader in place of Laneway's: a checkpoint of 2 ranks is refused on 1."""
import pathlib
import tempfile

import torchtitan_train
from torchtitan.hf_datasets.text_datasets import HuggingFaceTextDataLoader

example_config = torchtitan_train.small_llama


def stock_llama():
    config = example_config()
    config.dataloader = HuggingFaceTextDataLoader.Config(dataset="c4_test", dataset_path=str(links()))
    return config


def links():
    """A folder with the sample data under the name that the loader looks for."""
    folder = pathlib.Path(tempfile.mkdtemp())
    (folder / "data.json").symlink_to(torchtitan_train.DATA / "tales.jsonl")
    return folder


torchtitan_train.small_llama = stock_llama
main = torchtitan_train.main
