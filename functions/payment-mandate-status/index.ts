import { edgeFunction } from '../../shared/http/edge.ts'
import { paymentMandateStatus } from './contract.ts'
import { run } from './handler.ts'

export default edgeFunction(paymentMandateStatus, run)
