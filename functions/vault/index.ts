import { WorkerEntrypoint } from 'cloudflare:workers'
import type {
  EntryRequest,
  GenerateRequest,
  StoreRequest,
} from '../../shared/vault/entries-port.ts'
import type { VaultPort } from '../../shared/vault/port.ts'
import { openVault } from '../../shared/vault/vault.ts'
import { worldFrom } from '../../shared/world.ts'

/** Reached by service binding only: it has no route, and its HTTP face answers nothing. */
export default class Vault extends WorkerEntrypoint<Record<string, unknown>> implements VaultPort {
  receives(address: string) {
    return this.#open().receives(address)
  }

  store(request: StoreRequest) {
    return this.#open().store(request)
  }

  generate(request: GenerateRequest) {
    return this.#open().generate(request)
  }

  read(request: EntryRequest) {
    return this.#open().read(request)
  }

  totp(request: EntryRequest) {
    return this.#open().totp(request)
  }

  keep(mail: Parameters<VaultPort['keep']>[0]) {
    return openVault(worldFrom(this.env)).keep(mail)
  }

  use(order: Parameters<VaultPort['use']>[0]) {
    return openVault(worldFrom(this.env)).use(order)
  }

  override fetch(): Response {
    return new Response(null, { status: 404 })
  }

  #open(): VaultPort {
    return openVault(worldFrom(this.env), (work) => this.ctx.waitUntil(work))
  }
}
