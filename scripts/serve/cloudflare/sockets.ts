/** The module `cloudflare:sockets` for Node, as far as the mailer uses it. */
import { connect as connectPlain } from 'node:net'
import { Duplex } from 'node:stream'
import { connect as connectSecure } from 'node:tls'

/** Opens a TCP connection, with TLS from its first byte if `secureTransport` is `on`. */
export function connect(
  { hostname, port }: { hostname: string; port: number },
  { secureTransport }: { secureTransport: 'on' | 'off' },
) {
  const address = { host: hostname, port }
  const socket =
    secureTransport === 'on'
      ? connectSecure({ ...address, servername: hostname })
      : connectPlain(address)
  const { readable, writable } = Duplex.toWeb(socket)
  return {
    readable,
    writable,
    async close() {
      socket.destroy()
    },
  }
}
