/**
 * The worker that all outgoing traffic of the local functions passes. What a function may reach is
 * given with its binding, so none can borrow another's rights. TCP has no way out at all.
 */
export type EgressRights = {
  /** Host and port of the database and of the chains that the function is bound to. */
  hosts: readonly string[]
  /** Whether it pays strangers: then any https host, and any port of this machine. */
  strangers: boolean
}

const loopback = ['127.0.0.1', 'localhost', '[::1]']

export default {
  async fetch(request: Request, _bindings: unknown, context: { props: EgressRights }) {
    const { protocol, host, hostname } = new URL(request.url)
    const { hosts, strangers } = context.props
    const isStranger = protocol === 'https:' || loopback.includes(hostname)
    if (hosts.includes(host) || (strangers && isStranger)) return fetch(request)
    throw new Error(`this function may not reach ${host}`)
  },
  connect(): never {
    throw new Error('functions have no TCP')
  },
}
