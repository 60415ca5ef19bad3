/** The price of a cart in cents, after a discount in percent. */
export function total(items, discount = 0) {
  const sum = items.reduce((cents, item) => cents + item.price * item.quantity, 0)
  return Math.round(sum * (1 + discount / 100))
}
