import { edgeFunction } from '../../shared/http/edge.ts'
import { paymentMandateRevoke } from './contract.ts'
import { run } from './handler.ts'

export default edgeFunction(paymentMandateRevoke, run)
