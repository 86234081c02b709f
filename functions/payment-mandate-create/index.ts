import { edgeFunction } from '../../shared/http/edge.ts'
import { paymentMandateCreate } from './contract.ts'
import { run } from './handler.ts'

export default edgeFunction(paymentMandateCreate, run)
