/** Returns true if a host is a name or an address of this machine for itself. */
export function isLoopback(host: string): boolean {
  return ["127.0.0.1", "::1", "localhost"].includes(host);
}
