import assert from "node:assert/strict"
import { test } from "node:test"
import { total } from "../src/cart.js"

const cart = [
  { price: 1_000, quantity: 2 },
  { price: 500, quantity: 1 },
]

test("sums prices by quantity", () => assert.equal(total(cart), 2_500))
test("takes the discount off", () => assert.equal(total(cart, 10), 2_250))
