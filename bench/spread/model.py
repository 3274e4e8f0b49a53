# SPDX-License-Identifier: Apache-2.0
"""A language model of some hundred thousand parameters."""
import torch
from torch import nn

from spread.data import CONTEXT, VOCABULARY

WIDTH = 64
HEADS = 4
LAYERS = 2


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.before_attention, self.before_mixing = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.queries = nn.Linear(WIDTH, 3 * WIDTH)
        self.out = nn.Linear(WIDTH, WIDTH)
        self.mixing = nn.Sequential(nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(), nn.Linear(4 * WIDTH, WIDTH))

    def forward(self, x):
        rows, context, _ = x.shape
        heads = self.queries(self.before_attention(x)).view(rows, context, 3, HEADS, WIDTH // HEADS)
        query, key, value = heads.permute(2, 0, 3, 1, 4)
        seen = nn.functional.scaled_dot_product_attention(query, key, value, is_causal=True)
        x = x + self.out(seen.transpose(1, 2).reshape(rows, context, WIDTH))
        return x + self.mixing(self.before_mixing(x))


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.tokens, self.places = nn.Embedding(VOCABULARY, WIDTH), nn.Embedding(CONTEXT, WIDTH)
        self.blocks = nn.Sequential(*(Block() for _ in range(LAYERS)))
        self.head = nn.Sequential(nn.LayerNorm(WIDTH), nn.Linear(WIDTH, VOCABULARY))

    def loss(self, rows):
        """The mean loss of the tokens of rows, [rows, context + 1], but for the first of each."""
        x = self.tokens(rows[:, :-1]) + self.places.weight
        logits = self.head(self.blocks(x))
        return nn.functional.cross_entropy(logits.flatten(0, 1), rows[:, 1:].flatten())


def make(seed):
    torch.manual_seed(seed)
    return Model()
