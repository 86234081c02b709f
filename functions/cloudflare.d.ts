// The part of the Workers runtime that functions/custody is built on; the runtime brings it.
declare module 'cloudflare:workers' {
  export abstract class WorkerEntrypoint<Bindings> {
    protected readonly env: Bindings
    fetch?(request: Request): Response | Promise<Response>
  }
}
