// The parts of the Workers runtime that the functions use. The runtime provides the modules.
declare module 'cloudflare:workers' {
  /** Keeps the present request open for this work. */
  export function waitUntil(work: Promise<void>): void
  export abstract class WorkerEntrypoint<Bindings> {
    constructor(execution: { waitUntil(work: Promise<void>): void }, bindings: Bindings)
    protected readonly env: Bindings
    protected readonly ctx: { waitUntil(work: Promise<void>): void }
    fetch?(request: Request): Response | Promise<Response>
    scheduled?(event: unknown): Promise<void>
  }
}

declare module 'cloudflare:sockets' {
  export function connect(
    address: { hostname: string; port: number },
    options: { secureTransport: 'on' | 'off'; allowHalfOpen: boolean },
  ): {
    readable: ReadableStream<Uint8Array>
    writable: WritableStream<Uint8Array>
    close(): Promise<void>
  }
}
