/**
 * Hosts that are the machine itself, in the spellings that are left once the WHATWG parser has read an
 * address. Whether one may be reached is for the caller to know.
 */

const hosts = ['127.0.0.1', '[::1]', 'localhost']

/** Whether `hostname`, as URL gives it, is the machine itself. */
export function isLoopbackHost(hostname: string): boolean {
  return hosts.includes(hostname)
}
