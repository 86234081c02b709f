import { WorkerEntrypoint } from 'cloudflare:workers'
import { openCustody } from '../../shared/custody/custody.ts'
import type {
  AuthorizeRequest,
  ConfirmRequest,
  OpenAccountRequest,
  RelayRequest,
  ReplaceRequest,
} from '../../shared/custody/port.ts'
import { worldFrom } from '../../shared/world.ts'

/** Serves custody by service binding only: it has no route, and every HTTP request answers 404. */
export default class Custody extends WorkerEntrypoint<Record<string, unknown>> {
  authorize(request: AuthorizeRequest) {
    return openCustody(worldFrom(this.env)).authorize(request)
  }

  confirm(request: ConfirmRequest) {
    return openCustody(worldFrom(this.env)).confirm(request)
  }

  relay(request: RelayRequest) {
    return openCustody(worldFrom(this.env)).relay(request)
  }

  replace(request: ReplaceRequest) {
    return openCustody(worldFrom(this.env)).replace(request)
  }

  openAccount(request: OpenAccountRequest) {
    return openCustody(worldFrom(this.env)).openAccount(request)
  }

  ready() {
    return openCustody(worldFrom(this.env)).ready()
  }

  override fetch(): Response {
    return new Response(null, { status: 404 })
  }
}
