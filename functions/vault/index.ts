import { WorkerEntrypoint } from 'cloudflare:workers'
import type { VaultPort } from '../../shared/vault/port.ts'
import { openVault } from '../../shared/vault/vault.ts'
import { type World, worldFrom } from '../../shared/world.ts'

/** One world for the isolate, so that all callers who wait for mails share one query. */
let world: World | undefined

type PortArguments<Method extends keyof VaultPort> = Parameters<VaultPort[Method]>

/** Serves the vault by service binding only: it has no route, and every HTTP request answers 404. */
export default class Vault extends WorkerEntrypoint<Record<string, unknown>> implements VaultPort {
  store(...asked: PortArguments<'store'>) {
    return this.#open().store(...asked)
  }

  generate(...asked: PortArguments<'generate'>) {
    return this.#open().generate(...asked)
  }

  read(...asked: PortArguments<'read'>) {
    return this.#open().read(...asked)
  }

  totp(...asked: PortArguments<'totp'>) {
    return this.#open().totp(...asked)
  }

  use(...asked: PortArguments<'use'>) {
    return this.#open().use(...asked)
  }

  login(...asked: PortArguments<'login'>) {
    return this.#open().login(...asked)
  }

  goOn(...asked: PortArguments<'goOn'>) {
    return this.#open().goOn(...asked)
  }

  lookAt(...asked: PortArguments<'lookAt'>) {
    return this.#open().lookAt(...asked)
  }

  receives(...asked: PortArguments<'receives'>) {
    return this.#open().receives(...asked)
  }

  admits(...asked: PortArguments<'admits'>) {
    return this.#open().admits(...asked)
  }

  keep(...asked: PortArguments<'keep'>) {
    return this.#open().keep(...asked)
  }

  listMails(...asked: PortArguments<'listMails'>) {
    return this.#open().listMails(...asked)
  }

  readMail(...asked: PortArguments<'readMail'>) {
    return this.#open().readMail(...asked)
  }

  waitForMail(...asked: PortArguments<'waitForMail'>) {
    return this.#open().waitForMail(...asked)
  }

  sendMail(...asked: PortArguments<'sendMail'>) {
    return this.#open().sendMail(...asked)
  }

  storeByLink(...asked: PortArguments<'storeByLink'>) {
    return this.#open().storeByLink(...asked)
  }

  ready() {
    return this.#open().ready()
  }

  override fetch(): Response {
    return new Response(null, { status: 404 })
  }

  #open(): VaultPort {
    world ??= worldFrom(this.env)
    return openVault(world, (work) => this.ctx.waitUntil(work))
  }
}
