/** The module `cloudflare:workers` for Node. */

/** A function that other functions call; the platform makes one for each call. */
export abstract class WorkerEntrypoint<Bindings> {
  protected readonly ctx: { waitUntil(work: Promise<void>): void }
  protected readonly env: Bindings

  constructor(ctx: { waitUntil(work: Promise<void>): void }, env: Bindings) {
    this.ctx = ctx
    this.env = env
  }
}
