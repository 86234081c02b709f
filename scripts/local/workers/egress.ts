/**
 * The worker that all outgoing traffic of the local functions passes through. The rights of a function come
 * with its binding, so no function can use those of another. TCP leads only to the mail server, and only
 * for the function that is bound to it.
 */
import { connect } from 'cloudflare:sockets'

/** The addresses that one function may reach. */
export type EgressRights = {
  /** Host and port of the database, the chains and the providers that the function is bound to. */
  hosts: readonly string[]
  /** Host and port of servers that it may open a socket to. */
  sockets: readonly string[]
  /** True if it may reach strangers: any https host, and any port of this machine. */
  strangers: boolean
}

type Context = { props: EgressRights }
type Arriving = {
  readable: ReadableStream<Uint8Array>
  writable: WritableStream<Uint8Array>
  /** The local address is the one that the function asked for. */
  opened: Promise<{ localAddress?: string }>
}

const loopback = ['127.0.0.1', 'localhost', '[::1]']

export default {
  async fetch(request: Request, _bindings: unknown, context: Context) {
    const { protocol, host, hostname } = new URL(request.url)
    const { hosts, strangers } = context.props
    const isStranger = protocol === 'https:' || loopback.includes(hostname)
    if (hosts.includes(host) || (strangers && isStranger)) return fetch(request)
    throw new Error(`this function may not reach ${host}`)
  },
  async connect(socket: Arriving, _bindings: unknown, context: Context): Promise<void> {
    const { localAddress = '' } = await socket.opened
    if (!context.props.sockets.includes(localAddress)) throw new Error('this function has no TCP')
    const [hostname = '', port] = localAddress.split(':')
    const plain = { secureTransport: 'off', allowHalfOpen: false } as const
    const server = connect({ hostname, port: Number(port) }, plain)
    await Promise.all([
      socket.readable.pipeTo(server.writable),
      server.readable.pipeTo(socket.writable),
    ])
  },
}
