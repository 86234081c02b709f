import { contracts } from '../../../functions/contracts.ts'
import { errorTable } from '../../../shared/contract/errors.ts'
import { requestSchema, responseSchema } from '../../../shared/contract/json-schema.ts'
import { commonErrors } from '../../../shared/contract/operation.ts'

const json = (schema: unknown) => ({ content: { 'application/json': { schema } } })
export function documentOf() {
  const paths: Record<string, Record<string, unknown>> = {}
  for (const contract of contracts) {
    const codes = [...contract.errors, ...commonErrors(contract)]
    const responses: Record<string, unknown> = { 200: json(responseSchema(contract)) }
    for (const code of codes) {
      const [status] = errorTable[code]
      const same = codes.filter((one) => errorTable[one][0] === status)
      responses[status] = json({
        type: 'object',
        properties: {
          error: { enum: same },
          message: { type: 'string', minLength: 1 },
          request_id: { type: 'string', format: 'uuid' },
          hint: { type: 'string' },
          retry_after_seconds: { type: 'integer' },
          details: { type: 'object' },
        },
        required: ['error', 'message', 'request_id'],
        additionalProperties: false,
      })
    }
    const request = requestSchema(contract)
    const method = contract.method.toLowerCase()
    paths[`/${contract.folder}`] ??= {}
    Object.assign(paths[`/${contract.folder}`] ?? {}, {
      [method]: {
        operationId: contract.id,
        responses,
        ...(method === 'post'
          ? { requestBody: json(request) }
          : {
              parameters: Object.entries(request.properties ?? {}).map(([name, schema]) => ({
                in: 'query',
                name,
                required: request.required?.includes(name) ?? false,
                schema,
              })),
            }),
      },
    })
  }
  return { paths }
}
