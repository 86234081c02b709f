import { WorkerEntrypoint } from 'cloudflare:workers'
import type { LoginByLink } from '../../shared/vault/login-link-port.ts'
import type { VaultPort } from '../../shared/vault/port.ts'
import { openVault } from '../../shared/vault/vault.ts'
import { worldFrom } from '../../shared/world.ts'

/** Reached by service binding only: it has no route, and its HTTP face answers nothing. */
export default class Vault extends WorkerEntrypoint<Record<string, unknown>> implements VaultPort {
  receives(address: string) {
    return openVault(worldFrom(this.env)).receives(address)
  }

  storeByLink(login: LoginByLink) {
    return openVault(worldFrom(this.env)).storeByLink(login)
  }

  keep(mail: Parameters<VaultPort['keep']>[0]) {
    return openVault(worldFrom(this.env)).keep(mail)
  }

  override fetch(): Response {
    return new Response(null, { status: 404 })
  }
}
