/** An extension for Pi, which `run` passes to it: Pi reads no variable for the address of a provider. */

/** The variable with the proxy's address. */
const VARIABLE = "CONCERTINA_PROXY";

interface Pi {
  registerProvider(name: string, settings: { baseUrl: string }): void;
}

export default function pointAtProxy(pi: Pi): void {
  const url = process.env[VARIABLE];
  if (url === undefined) return;
  pi.registerProvider("anthropic", { baseUrl: url });
  pi.registerProvider("openai", { baseUrl: `${url}/v1` });
}
