"""Run the same work in several threads at once."""

import threading


def results_of_threads(work, count=8):
    """Call `work(index)` in `count` threads that start together; return what each returned."""
    results, errors, barrier = [None] * count, [], threading.Barrier(count)

    def run(index):
        try:
            barrier.wait(timeout=30)
            results[index] = work(index)
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=run, args=(index,)) for index in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    return results
