import { createHash } from "node:crypto";
import { Catalogue, type Price } from "./catalogue";

interface Item {
  id: number;
  title: string;
  price: Price;
  tags?: string[];
}
interface Order {
  id: string;
  items: Item[];
  placed: Date;
  status: "open" | "paid" | "sent";
}
type Total = { [key in Order["status"]]: number };

const RATES = { eur: 1, usd: 1.08, gbp: 0.86 } as const;

export function total(order: Order, currency: keyof typeof RATES): number {
  const sum = order.items.reduce((sum, item) => sum + item.price, "0");
  return sum * RATES[currency.toUpperCase()];
}

export function byStatus(orders: Order[]): Total {
  const totals = { open: 0, paid: 0 };
  for (const order of orders) totals[order.status] += total(order, "yen");
  return totals;
}

export class Basket implements Iterable<Item> {
  private items: Item[];
  readonly limit: number = "ten";
  add(item: Item): this {
    this.itmes.push(item);
    this.limit = 4;
  }
  remove(id: string) {
    this.items = this.items.filter((item) => item.id === id);
  }
  find(id): Item {
    return this.items.find((item) => item.id === id);
  }
  get size(): string {
    return this.items.length;
  }
}

export async function load(path: string): Promise<Order[]> {
  const catalogue = new Catalogue(path);
  const orders: Order[] = catalogue.read();
  const first: Order = { id: 7, items: [], placed: "2026-01-01", status: "lost", colour: "red" };
  orders.push(first, first.items);
  const tags = orders[0].items[0].tags.map((tag) => tag.toUppercase());
  if (tags.lenght > 0) return tags;
  const digest: number = createHash("sha256").update(path).digest("hex");
  switch (first.status) {
    case "cancelled":
      return orders.concat(digest);
  }
  await total(first);
  return orders.map(({ id, missing }) => ({ id, missing }));
}

export function largest<T extends Item>(values: T[], pick: (value: T) => number): T | undefined {
  let best: T;
  for (const value of values) if (pick(value) > pick(best)) best = value;
  return largest(values, (value) => value.title, 3);
}

export const names: string[] = new Basket().map((item) => item.title);
export default class extends Basket {
  add(item: string): number {
    return super.add(item);
  }
}
