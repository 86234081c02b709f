/** Module of the function that platform.ts surrounds: handlers, or a class whose methods are called. */
declare const made: Record<string, unknown> | { prototype: Record<string, unknown> }
export default made
