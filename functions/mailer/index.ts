import { connect } from 'cloudflare:sockets'
import { WorkerEntrypoint } from 'cloudflare:workers'
import { unbound } from '../../shared/db/database.ts'
import { deliverMail } from '../../shared/mail/deliver.ts'
import type { Connect } from '../../shared/mail/smtp.ts'
import { transportOf } from '../../shared/mail/transport.ts'
import { deliverEvents } from '../../shared/webhooks/deliver.ts'
import { worldFrom } from '../../shared/world.ts'

const open: Connect = (hostname, port, tls) =>
  connect({ hostname, port }, { secureTransport: tls ? 'on' : 'off', allowHalfOpen: false })

/** Sends mail and the events of webhooks when called by service binding or by its schedule; every HTTP request answers 404. */
export default class Mailer extends WorkerEntrypoint<Record<string, unknown>> {
  async deliver(): Promise<void> {
    const world = worldFrom(this.env)
    await deliverMail(world, transportOf(world, open))
    await deliverEvents(world)
  }

  async ready(): Promise<void> {
    const world = worldFrom(this.env)
    transportOf(world, open)
    await unbound(world.db).run('mailer_ready', {})
  }

  override scheduled(): Promise<void> {
    return this.deliver()
  }

  override fetch(): Response {
    return new Response(null, { status: 404 })
  }
}
