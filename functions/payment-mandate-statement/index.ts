import { edgeFunction } from '../../shared/http/edge.ts'
import { paymentMandateStatement } from './contract.ts'
import { run } from './handler.ts'

export default edgeFunction(paymentMandateStatement, run)
