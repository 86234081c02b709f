import { WorkerEntrypoint } from 'cloudflare:workers'
import type { VaultPort } from '../../shared/vault/port.ts'
import { openVault } from '../../shared/vault/vault.ts'
import { worldFrom } from '../../shared/world.ts'

type Asked<Method extends keyof VaultPort> = Parameters<VaultPort[Method]>

/** Reached by service binding only: it has no route, and its HTTP face answers nothing. */
export default class Vault extends WorkerEntrypoint<Record<string, unknown>> implements VaultPort {
  store(...asked: Asked<'store'>) {
    return this.#open().store(...asked)
  }

  generate(...asked: Asked<'generate'>) {
    return this.#open().generate(...asked)
  }

  read(...asked: Asked<'read'>) {
    return this.#open().read(...asked)
  }

  totp(...asked: Asked<'totp'>) {
    return this.#open().totp(...asked)
  }

  use(...asked: Asked<'use'>) {
    return this.#open().use(...asked)
  }

  login(...asked: Asked<'login'>) {
    return this.#open().login(...asked)
  }

  goOn(...asked: Asked<'goOn'>) {
    return this.#open().goOn(...asked)
  }

  receives(...asked: Asked<'receives'>) {
    return this.#open().receives(...asked)
  }

  admits(...asked: Asked<'admits'>) {
    return this.#open().admits(...asked)
  }

  keep(...asked: Asked<'keep'>) {
    return this.#open().keep(...asked)
  }

  listMails(...asked: Asked<'listMails'>) {
    return this.#open().listMails(...asked)
  }

  readMail(...asked: Asked<'readMail'>) {
    return this.#open().readMail(...asked)
  }

  waitForMail(...asked: Asked<'waitForMail'>) {
    return this.#open().waitForMail(...asked)
  }

  sendMail(...asked: Asked<'sendMail'>) {
    return this.#open().sendMail(...asked)
  }

  storeByLink(...asked: Asked<'storeByLink'>) {
    return this.#open().storeByLink(...asked)
  }

  ready() {
    return this.#open().ready()
  }

  override fetch(): Response {
    return new Response(null, { status: 404 })
  }

  #open(): VaultPort {
    return openVault(worldFrom(this.env), (work) => this.ctx.waitUntil(work))
  }
}
