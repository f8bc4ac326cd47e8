import ArgumentParser
import Batch
