"""The typed client of an Agent Operating Account."""
from .account_error import AccountError as AccountError, LocalCode as LocalCode
from .client import Account as Account, pages as pages
from .model import NULL as NULL
from .operations import CONTRACT_DIGEST as CONTRACT_DIGEST, ErrorCode as ErrorCode
from .paid_fetch import Asked as Asked, PaymentError as PaymentError, PaymentProblem as PaymentProblem
from .paid_fetch import attempt_of as attempt_of
