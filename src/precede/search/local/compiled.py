from numba import njit
def compiled(function):
    return njit(cache=True,nogil=True,error_model="numpy")(function)
