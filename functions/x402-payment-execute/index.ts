import { edgeFunction } from '../../shared/http/edge.ts'
import { x402PaymentExecute } from './contract.ts'
import { run } from './handler.ts'

export default edgeFunction(x402PaymentExecute, run)
